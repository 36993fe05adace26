"""Spanish words of reference (normal form: no accents)."""

from langmem_plugin.references.words import field_names as fields
from langmem_plugin.references.words.language_table import (
    Language,
    cells,
    comparisons,
    named,
    numbered,
    phrases,
    translated,
    word_set,
)

SPANISH = Language(
    name="es",
    kinds=cells(
        {
            "marker": "numero|numeros|num|nro|nº|n°|opcion|opciones|resultado|elemento",
            "last": "ultimo|ultima|ultimos|ultimas|final",
            "penultimate": "penultimo|penultima|anteultimo|anteultima",
            "antepenultimate": "antepenultimo|antepenultima",
            "top": "primerisimo",
            "middle": "del medio|de en medio|del centro|de enmedio|en medio",
            "all": "todos|todas|todo|toda|todos ellos|todas ellas|cada uno|cada una|toda la lista",
            "both": "ambos|ambas|los dos|las dos|cualquiera|cualquiera de los dos|cualquiera de las dos",
            "neither": "ninguno|ninguna|ninguno de ellos|ninguna de ellas|ni uno ni otro|ninguno de los dos|ninguna de las dos|ninguno de esos|ninguna de esas",
            "except": "menos|excepto|salvo|aparte de|a excepcion de|con excepcion de|quitando|sin|fuera de|pero no",
            "range": "a|al|hasta|-|–",
            "and": "y|e|,|&|o|u|tambien|mas",
            "not": "no|nunca|ni",
            "this": "ese|esa|eso|este|esta|esto|aquel|aquella|aquello",
            "these": "esos|esas|estos|estas|aquellos|aquellas",
            "it": "lo|el mismo|ese mismo|esa misma",
            "them": "los mismos|ellos|ellas",
            "its": "su",
            "their": "sus",
            "the": "el|la|los|las|lo",
            "one": "uno|una|unos|unas|el de|la de|el del|la del|los de|las de|los del|el que|la que|los que|las que|el con|la con",
            "other": "otro|otra|el otro|la otra",
            "another": "otro|otra|otros|otras|otra cosa|algo mas|algun otro|alguna otra|otra opcion|otras opciones|algo diferente|algo distinto|hay mas|mas opciones|alguno mas|alguna mas|diferente|distinto|distinta",
            "previous": "anterior|anteriores|de antes|previo|previa|antes",
            "same": "mismo|misma|mismos|mismas",
            "indefinite": "un|una|unos|unas|algun|alguna|algunos|algunas",
            "of": "de|del",
            "there": "alli|ahi|alla",
            "preposition": "a|en|para|por|desde|hasta|sobre|dentro de|entre|cada|de|con|las|x|alrededor de",
            "choose": "elijo|quiero|prefiero|escojo|dame|guarda|abre|muestra|muestrame|borra|elimina|agrega|anade|pide|reserva|compra|manda|envia|pon|me quedo con|sobre|acerca de|con|de|detalles de|info de|mas sobre|vamos con|ver|compara|guardar|pedir|toma|tomo|la|el",
            "polite": "por favor|porfa|porfavor|gracias|ahora|entonces|tambien|mejor|ok|vale|si|se ve|suena|parece|es|esta|me|gusta|bien|genial|perfecto|a|en|al|con|y|pero|porque|que|mi|mis|la|el|de|para mi|por|hoy|manana|luego|despues|ya|estan|tiene|tienen|son|te|nos|lista",
            "selects": "de la lista|lista|de arriba|que mostraste|que enviaste|mostrados|mencionado|mencionados|que me diste",
            "idiom": "al final|a finales|al final de|en primer lugar|primero que nada|primero que todo|primero de todo|lo primero es|menos mal|antes que nada|un segundo|un segundito|dame un segundo|espera un segundo|segundos|por primera vez|primera vez|la primera vez|ultima vez|la ultima vez|por ultimo|ultimamente|ultima hora|a ultima hora|la semana pasada|el ultimo mes|la ultima semana|esta noche|esta semana|este mes|esta manana|esta tarde|este fin de semana|este ano|eso es todo|nada mas|de todo|sobre todo|de todos modos|de todas formas|todo el dia|todos los dias|un dia|otro dia|el otro dia|de nuevo|otra vez|una vez|esta bien|eso es|a las dos|a la una|a las tres|a las cuatro|a las cinco|por lo menos|al menos|mas o menos|primer piso|segundo piso|tercer piso|tercera edad|numero de telefono|a lo mejor|por lo tanto|lo siento|no lo se|a lo largo|no se|todo bien|la una|de segunda mano|primera clase|lo que|lo mas pronto|lo antes posible|los lunes|los martes|los miercoles|los jueves|los viernes",
            "unit": "semana|semanas|dia|dias|hora|horas|minuto|minutos|min|mes|meses|ano|anos|persona|personas|ninos|adultos|euros|dolares|pesos|kilos|kilo|gramos|tazas|taza|veces|vez|noches|noche|porciones|grados|km|invitados|am|pm|de la tarde|de la manana|%|estrellas|cebollas|huevos|litros|entradas|boletos|asientos|habitaciones",
            "search": "busca|buscame|buscar|encuentra|encuentrame|necesito un|necesito una|quiero un|quiero una|hay algun|hay alguna|recomiendame",
            "confirm": "si|sip|claro|vale|ok|perfecto|genial|bueno|de acuerdo|esta bien|suena bien|excelente|dale|listo|correcto|adelante|me gusta|me parece bien|hazlo|exacto",
            "revise": "que tal|y si|y para|y el|y la|mejor|cambia|cambialo|cambiala|en vez de|en lugar de|mueve|pasa|actualiza|solo|especificamente|ponlo|hazlo para|y que hay de|que hay de|y en",
            "return": "volvamos a|volver a|vuelve a|en cuanto a|regresando a|regresemos a",
            "older": "de antes|de la lista anterior|la lista anterior",
            "oldest": "de la primera lista|la primera lista",
            "labelled": "puerta|sala|piso|pagina|talla|somos|son|tengo|anos|nivel|linea|cuarto de",
            "from_end": "desde el final|del final|empezando por el final",
            "most": "mas|mayor|mayor numero de",
            "least": "menos|menor|menor numero de",
            "greeting": "buenas noches|buenos dias|buenas tardes|lo pienso|lo voy a pensar|lo pensare|jaja|jajaja|buena suerte",
            "found": "que encontraste|que encontramos|que mostraste|de antes|que vimos|anterior|que me gusto|que mencionaste",
            "question": "que|donde|cuando|como|cual|cuales|quien|cuanto|cuanta|cuantos|cuantas|tiene|tienen|es|hay|puede|a que",
        }
    ),
    ordinals=numbered(
        "primero|primera|primer|primeros|primeras; segundo|segunda|segundos|segundas; tercero|tercera|tercer|terceros|terceras; cuarto|cuarta; quinto|quinta; sexto|sexta; septimo|septima; octavo|octava; noveno|novena; decimo|decima"
    ),
    cardinals=numbered(
        "uno|una|un; dos; tres; cuatro; cinco; seis; siete; ocho; nueve; diez; once; doce; trece; catorce; quince; dieciseis; diecisiete; dieciocho; diecinueve; veinte"
    ),
    comparisons=comparisons(
        least={
            fields.NOISE: "mas silencioso|mas silenciosa|menos ruidoso|menos ruidosa|menos ruido",
            fields.PRICE: "mas barato|menos cuesta|mas barata|mas baratito|mas baratita|mas baratos|mas baratas|menos caro|menos cara|mas economico|mas economica|barato|barata|mas asequible|menos costoso|menos costosa|cuesta menos|menor precio",
            fields.DURATION: "corto|corta|mas rapido|mas rapida|mas corto|mas corta|mas breve|menos tiempo|mas rapidos|mas rapidas|tarda menos|menos tarda|dura menos|menos dura|menos minutos|rapido|rapida",
            fields.CLOCK: "mas temprano|mas temprana|antes de todos|mas pronto|primero en salir|sale antes|antes sale|antes llega|llega antes|antes venga|venga antes|antes viene|antes empieza|empieza antes",
            fields.DUE: "vence antes|antes vence|caduca antes|antes caduca|acaba antes|antes acaba",
            fields.DEBT: "debe menos|menos debe|menos deuda",
            fields.AGE: "viejo|vieja|mas viejo|mas vieja|mas viejito|mas viejita|mas antiguo|mas antigua|menos reciente",
            fields.RATING: "peor|peor valorado|peor valorada|peor calificado|peor calificada|menos estrellas",
            fields.CALORIES: "mas sano|mas sana|mas saludable|mas ligero|mas ligera|menos calorias|menos calorico|menos calorica",
            fields.DISTANCE: "mas cerquita|mas cercano|mas cercana|mas cerca|mas proximo|mas proxima",
            fields.SIZE: "chico|chica|pequeno|pequena|mas pequeno|mas pequena|mas chiquito|mas chiquita|mas pequenito|mas pequenita|mas chico|mas chica|menor|menos porciones",
            fields.SIZE
            + fields.PRICE: "mas bajo|mas baja|mas bajos|mas bajas|mas debil|mas vacio|mas vacia|mas fino|mas fina|mas delgado|mas delgada",
            fields.WEIGHT: "mas liviano|mas liviana|pesa menos",
            fields.EASE: "mas facil|mas sencillo|mas sencilla|mas simple|menos pasos",
        },
        most={
            fields.DEPTH + fields.SIZE + fields.PRICE: "mas profundo|mas profunda|mas hondo|mas honda",
            fields.WIDTH + fields.SIZE + fields.PRICE: "mas ancho|mas ancha",
            fields.NOISE: "mas ruidoso|mas ruidosa|mas ruido",
            fields.PAY: "mejor pagado|mejor pagada|mejor pagados|mas paga|paga mas|paga mejor|mejor paga",
            fields.DEBT: "debe mas|mas debe|mas deuda",
            fields.PRICE: "mas caro|mas cara|mas caros|mas caras|mas costoso|mas costosa|caro|cara|cuesta mas|mas cuesta|mayor precio",
            fields.DURATION: "largo|larga|mas largo|mas larga|mas lento|mas lenta|mas tiempo|mas rato|tarda mas|mas tarda|dura mas|mas dura",
            fields.CLOCK: "mas tarde|mas tardio|mas tardia|sale mas tarde",
            fields.AGE: "nuevo|nueva|mas nuevo|mas nueva|mas reciente|mas joven|mas moderno|mas moderna",
            fields.RATING: "mejor|mejores|mejor valorado|mejor valorada|mejor calificado|mejor calificada|mejor puntuado|mejor puntuada|mas popular|mas estrellas|mejor puntuacion|mejor calificacion",
            fields.CALORIES: "mas calorias|mas calorico|mas calorica",
            fields.DISTANCE: "mas lejano|mas lejana|mas lejos",
            fields.SIZE: "grande|mas grande|mas grandes|mas porciones|mayor|mas espacioso|mas espaciosa",
            fields.HEIGHT + fields.SIZE + fields.PRICE: "mas alto|mas alta|mas altos|mas altas|mas elevado|mas elevada",
            fields.SIZE + fields.PRICE: "mas gordo|mas gorda|mas grueso|mas gruesa|mas fuerte|mas lleno|mas llena",
            fields.WEIGHT: "pesado|pesada|mas pesado|mas pesada|pesa mas",
            fields.EASE: "mas dificil|mas complicado|mas complicada",
        },
    ),
    attributes=named(
        {
            "precio|costo|cuesta|cuestan|cuanto|cuanto cuesta|tarifa|vale": fields.PRICE,
            "direccion|ubicacion|donde|donde queda|donde esta|ubicado": phrases(
                "address|location|street|direccion|city|venue"
            ),
            "telefono|numero de telefono|llamar": phrases("phone|telephone|telefono|contact"),
            "puntuacion|calificacion|estrellas|valoracion|resenas": fields.RATING,
            "cuanto tarda|cuanto tiempo|duracion|tarda|dura": fields.DURATION,
            "a que hora|cuando|fecha|hora": fields.CLOCK,
            "calorias": fields.CALORIES,
        }
    ),
    concepts=translated(
        "ingredientes|ingrediente: ingredients|ingredient; receta|recetas: recipe|recipes; "
        "pasos|instrucciones: steps|instructions; vuelo|vuelos: flight|flights; "
        "restaurante|restaurantes: restaurant|restaurants; hotel|hoteles: hotel|hotels; "
        "evento|eventos: event|events; cita|citas: appointment|appointments|event; "
        "reunion|reuniones: meeting|meetings|event; tarea|tareas: task|tasks|todo; "
        "recordatorio|recordatorios: reminder|reminders; factura|facturas: invoice|invoices; "
        "correo|correos|mensaje|mensajes: email|emails|message|messages|mail; "
        "pelicula|peliculas: movie|movies|film; cancion|canciones: song|songs|track; libro|libros: book|books; "
        "producto|productos: product|products; pedido|pedidos|orden: order|orders; pollo: chicken; "
        "carne|res: beef|meat; pescado: fish; salmon: salmon; ensalada: salad; sopa: soup; arroz: rice; "
        "queso: cheese; lentejas: lentil|lentils; champinones|setas: mushroom|mushrooms; "
        "tomate|tomates: tomato|tomatoes; vegetariano|vegetariana: vegetarian|veggie; vegano|vegana: vegan; "
        "huevo|huevos: egg|eggs; limon: lemon; ajo: garlic; papa|papas|patata|patatas: potato|potatoes; "
        "pan: bread; camarones|gambas: shrimp|prawn; cerdo: pork; pavo: turkey; "
        "verduras|verdura: vegetable|vegetables|veggie; lista: list; compra|compras: grocery|groceries|shopping; "
        "coche|carro|auto: car|cars; casa: house|home; rojo|roja: red; azul: blue; verde: green; "
        "negro|negra: black; blanco|blanca: white; dentista: dentist|dental; medico|doctor|doctora: doctor; "
        "escuela|colegio: school; cumpleanos: birthday; garbanzos: chickpea|chickpeas; manana: morning; "
        "tarde: afternoon; noche: evening|night; picante: spicy; "
        "directo|directos|directa|directas: direct|nonstop; zapatos: shoes; contacto|contactos: contact|contacts; "
        "foto|fotos: photo|photos; cena: dinner; desayuno: breakfast; almuerzo: lunch; gimnasio: gym; "
        "frijoles|alubias: bean|beans; atun: tuna; cordero: lamb"
    ),
    weekdays=numbered("lunes; martes; miercoles; jueves; viernes; sabado; domingo", start=0),
    months=numbered(
        "enero; febrero; marzo; abril; mayo; junio; julio; agosto; septiembre|setiembre; octubre; noviembre; diciembre"
    ),
    stop=word_set(
        "a|al|de|del|el|la|los|las|lo|un|una|unos|unas|y|e|o|u|que|en|con|por|para|sin|es|son|esta|este|esto|ese|esa|eso|no|si|se|me|te|le|les|nos|su|sus|mi|tu|como|mas|pero|muy|ya|hay|fue|ser|estar|tiene|quiero|dame|favor|porfa|gracias|cual|cuando|donde|ver|hola|bien|bueno|vale|mejor|tambien|guarda|abre|muestra|muestrame|borra|agrega|anade|pide|reserva|compra|manda|envia|pon|sobre"
    ),
)
