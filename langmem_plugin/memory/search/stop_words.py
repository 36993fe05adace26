"""Words too common to search by, per language: pronouns, articles, auxiliaries, question words, greetings."""

import re

_LISTS = {
    "english": (
        "a about above after again all am an and any are as at be been before being below both but by can "
        "could did do does doing don down during each few for from further had has have having he her "
        "here hers him his how i if in into is it its just let me mine more most my no nor not now of off "
        "on once only or other our ours out over own please s same shall she should so some such t tell "
        "than that the their theirs them then there these they this those through to too under until up "
        "us very was we were what when where which while who whom whose why will with would you your "
        "yours d ll m re ve im ive dont didnt hello hi hey"
    ),
    "spanish": (
        "a al algo alguna alguno ante antes aquel aquella como con contra cual cuál cuales cuáles cuando "
        "cuándo cuánta cuántas cuánto cuántos de del desde donde dónde dime "
        "durante e el él ella ellas ellos en entre era eran "
        "eres es esa esas ese eso esos esta está estaba están estar estas este esto estos estoy fue "
        "fueron ha han has hasta hay he la las le les lo los mas más me mi mí mis mucho muy nada ni no "
        "nos nosotros nuestra nuestro o os otra otro para pero poco por porque que qué quien quién "
        "quienes se sea ser si sí sin sobre son soy su sus también tan te tengo ti tiene tienen todo "
        "todos tu tú tus un una uno unos usted y ya yo hola"
    ),
    "french": (
        "à au aux avec ce ces cet cette dans de des du elle elles en est et étaient était été être eu eux "
        "il ils je la le les leur leurs lui ma mais me même mes moi mon ne nos notre nous on ont ou où "
        "par pas pour qu quand que quel quelle quelles quels qui quoi sa sans se ses son sont suis sur ta "
        "te tes toi ton tu un une vos votre vous y"
    ),
    "german": (
        "aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein deine dem den "
        "der des dich die dir doch du durch ein eine einem einen einer eines er es euch für habe haben "
        "hat hatte ich ihm ihn ihr ihre im in ist ja kann kein keine man mein meine mich mir mit nach "
        "nicht noch nur ob oder ohne sein seine sich sie sind so über um und uns unser unter vom von vor "
        "wann war waren warum was wenn wer wie wir wird wo zu zum zur"
    ),
    "italian": (
        "a ad ai al alla alle anche che chi ci come con cosa cui da dal dalla degli dei del della delle "
        "di dove e è ed era erano essere fra gli ha hai hanno ho i il in io la le lei li lo loro lui ma "
        "mi mia mie miei mio ne nei nel nella noi non nostra nostro o per perché più quale quali quando "
        "quanto quella quello questa questo sei si sono su sua sue sul sulla suo suoi ti tra tu tua tuo "
        "un una uno vi voi"
    ),
    "portuguese": (
        "a ao aos as às até com como da das de dela dele do dos e é ela elas ele eles em entre era essa "
        "esse esta está este eu foi foram há isso isto já lhe mais mas me meu meus minha minhas muito na "
        "não nas nem no nos nós o onde os ou para pela pelo por porque qual quais quando quanto que quem "
        "se sem ser seu seus sua suas são também te tem têm teu tua tu um uma você vocês"
    ),
    "russian": (
        "а без более бы был была были было быть в вам вас весь во вот все всего вы где да для до его ее "
        "ей ему если есть еще же за и из или им их к как какая какой какие ко когда которая который кто "
        "ли меня мне мой моя мы на над не него нет ни но ну о об он она они оно от по под после при про с "
        "со так также там тебя то только ты у уже чего чей чем что чтобы эта это этот я"
    ),
    "hebrew": (
        "אבל או אותה אותו אותי אותך אותם אז אחד אחרי אי איזה איזו איך אילו אין איפה אל אלה אם אנחנו אני "
        "אף את אתה אתם באיזה בו בי בין בלי גם דבר ה הוא היא היה היו היום הם הן הנה זה זו זאת יש כאן כאשר "
        "כדי כי כל כמה כמו כן לא לאן לה להם לו לי לך לכם למה לנו לפני מאוד מאיפה מה מי מתי נגד על עלי "
        "עליו עם עד עוד עכשיו פה רק ש של שלה שלהם שלו שלי שלך שלנו שם תגיד תגידי"
    ),
}

STOP_WORDS = {language: frozenset(words.split()) for language, words in _LISTS.items()}

SMALL_TALK = re.compile(
    "thanks|thank|thx|ty|please|pls|ok|okay|okey|kk|yes|yep|yeah|yup|nope|sure|great|cool|nice|good|well|fine|perfect|sorry"
    "|welcome|bye|goodbye|cheers|morning|mornin|evening|night|afternoon|lol|lmao|omg|wow|hmm+|yay|ugh|xx*|hiya|heya|hullo"
    "|(?:ha)+h?|a?(?:ja)+j?|(?:he)+h?|(?:ח)+"
    "|gracias|porfa|vale|bueno|buenos|buenas|buen|dias|días|tardes|noches|perfecto|genial|claro|adios|adiós|chao|saludos"
    "|תודה|רבה|בבקשה|אוקיי|אוקי|סבבה|יופי|מעולה|טוב|בוקר|ערב|לילה|אור|היי|הי|שלום|ביי|להתראות|סליחה|מלך|אלוף"
)
"""Each word by which people greet, thank, agree or laugh, in small letters."""
