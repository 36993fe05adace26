"""English words of reference: edit the table, not the code."""

from langmem_plugin.references.words import field_names as fields
from langmem_plugin.references.words.language_table import (
    Language,
    cells,
    comparisons,
    named,
    numbered,
    phrases,
    word_set,
)

ENGLISH = Language(
    name="en",
    kinds=cells(
        {
            "marker": "number|numbers|num|nr|no.|option|options|item|items|choice|choices|result|results|entry|entries|nbr"
            "|suggestion|pick",
            "last": "last|final|bottom|latest listed|lowest on the list",
            "penultimate": "the one before last|the one before the last|second to last|second-to-last|next to last|second last|penultimate|last but one|2nd to last|one before last|one before the last",
            "antepenultimate": "third to last|third last|third-to-last|3rd to last|third from last|last but two",
            "top": "top",
            "middle": "middle|in the middle",
            "all": "all|every|everything|each|all of them|all of the above|all the above|all of these|all of those|each of them|the whole list|the lot|every one|everyone of them|the entire list|the whole thing|whole list",
            "both": "both|both of them|the pair|the two of them|either|either one|either of them",
            "neither": "neither|none of them|none of these|none of those|neither one|none|not any of them|no one of them|not any of those",
            "except": "except|xcept|exept|cept|except for|cept for|but|but not|besides|apart from|other than|excluding|minus|without|aside from|save for|leaving out|skip|bar",
            "range": "to|through|thru|until|till|-|–",
            "and": "and|&|,|plus|also|as well as|then|or|n",
            "not": "not|nt|w out|w/out|don't|dont|isn't|isnt|doesn't|doesnt|no|never|ain't|wasn't",
            "this": "that|this|dat|tht",
            "these": "those|these|thos",
            "it": "him|it|that one|this one|it's one|dat one",
            "them": "them|'em|em|these ones|those ones|theirs",
            "its": "its|it's|his|her|the place's",
            "their": "their",
            "the": "the|teh|da",
            "one": "one|ones|1s",
            "other": "other|the other|the other one|other one",
            "another": "another|another one|others|something else|anything else|somewhere else|a different one|different one|different ones|someone else|some other|any other|any others|anything different|something different|other options|more options|alternatives|alternative|other ones|what else|other choices|different|any more|some more|anyone else",
            "previous": "previous|earlier|before|from before|prior|from earlier|the one before|previously|before that|back then|a while ago|you showed before",
            "same": "same",
            "indefinite": "a|an|any|some|several|more",
            "of": "of",
            "there": "there|that place|this place|over there",
            "preposition": "at|in|for|by|after|before|until|around|till|within|every|per|x|than|over|under|since|only|just|exactly|about|near|between|from|to|on|with",
            "choose": "go with|go for|choose|pick|take|select|want|prefer|like|info on|details on|about|tell me about|details for|info for|recipe for|more on|more about|open|show|save|keep|delete|remove|drop|book|buy|get|order|add|send|share|play|try|do|see|read|view|cancel|reserve|compare|info about|details of",
            "polite": "please|pls|plz|thanks|thank you|thx|ty|now|then|instead|too|also|again|ok|okay|though|tho|really|maybe|first|today|tonight|tomorrow|later|asap|looks|look|sounds|sound|seems|is|was|are|would|will|should|could|it|looked|in full|good|great|nice|perfect|lol|haha|if|that's|thats|works|for me|me|from|on|in|to|at|with|by|because|since|but|so|as|into|onto|instead of|over|u|you|my|up|off|out|please?|done|ready|complete|completed|finished|does|do|did|has|have|had|can|actually|definitely|the|which|who|what|when|where|this|that|before|after|vs|versus|there|back|cuz|bc",
            "selects": "list|lists|above|shown|listed|mentioned|you sent|you showed|you gave|you said|you found|you mentioned|results|on the list|from the list|of the list",
            "idiom": "first of all|just a second|a second|one second|one sec|a sec|wait a second|at first|first time|second thought|second thoughts|on second thought"
            "|the first time|the last time|last time|last night|last week|last month|last year|last monday|last tuesday|last wednesday|last thursday|last friday|last saturday|last sunday|last weekend|last name|first name|at last|at least|one more thing|one thing|another thing"
            "|number one priority|first thing|last thing|second nature|phone number|house number|the number of|reference number|order number|confirmation number|contact number|telephone number|postal number"
            "|one day|one moment|once more|one of these days|no one|two of us|the two of us|both of us|all of us|all right|all good|all set|that's all|thats all|that is all|that's it|that is it|that'll be all|that will be all|that would be all|after all|all day|all day long|all week|all the time|at all|all the best|not at all|first class|second hand|that's that"
            "|it is raining|this week|this weekend|this month|this year|this morning|this evening|this afternoon|this time|that time|that day|that way|this way|that much|this one time|that's right|that is right|that's correct|that is correct|is that right|other day|the other day|each other|on the other hand|other than that|both ways|round two|half past|each day|every day|every week|next one week"
            "|so that|such that|now that|in that case|in this case|at this time|at that time|for this|before that|after that|this next week|that's great|that's fine"
            "|first floor|second floor|third floor|fourth floor|first half|second half|first aid|first grade|second grade|third grade|first date|third party|in first|first off|first up|first and foremost|in the first place|the last straw|last straw|last resort|the last word|second chance|third time|last chance|love at first sight|every second|seconds|each second|split second|any second|for a second|first things first|let me first"
            "|to do list|the first week|the last week|the first day|the last day|the first of the month|last minute|last call|first day|last day|what time is it|is it raining|all in all|back to square one|one way|last of all|not really|no problem|that is everything|that's everything|that'll be everything|everything for now|that's all i need|no worries|it's ok|it's okay|it is ok|it's fine|how is it going|how's it going|what is it|no other|none at all|in no time|a number of|any number of",
            "unit": "week|weeks|day|days|hour|hours|minute|minutes|min|mins|hr|hrs|am|pm|month|months|year|years|people|persons|person|guests|adults|kids|children|dollars|bucks|euros|shekels|nis|percent|%|kg|g|grams|cups|cup|lbs|tbsp|tsp|times|oclock|o'clock|nights|night|bedroom|bedrooms|rooms|room|tickets|seats|st|nd|a.m|p.m|a.m.|p.m.|k|km|miles|degrees|stars|star|calories|ml|oz|liters|servings",
            "search": "find|search|looking for|look for|look up|find me|search for|show me some|i need a|i need an|i'd like to find|are there any|is there a|what's the weather|any good|suggest a|recommend a",
            "confirm": "yes|yeah|yep|yup|sure|ok|okay|sounds good|sounds great|perfect|great|that works|works for me|fine|alright|correct|right|excellent|awesome|cool|good|nice|go ahead|do it|confirm|looks good|absolutely|definitely|that'll do|that will do|that's good|of course|y|ya|yas",
            "revise": "what about|how about|instead|make it|change|make that|actually|switch|swap|move|rather|reschedule|update|and for|and on|what if|only|specifically|but for|but on|except make|shift|push|extend|also add|add",
            "return": "go back to|get back to|back to|return to|going back to|as for|regarding|now about|let's go back",
            "older": "from before|from earlier|earlier list|the previous list|previous list|from the other list|the other list|before that|you showed before|you showed me before|from last time",
            "oldest": "from the first list|in the first list|of the first list|the first list|on the first list|from the original list|the original list",
            "labelled": "gate|room|page|floor|size|chapter|season|episode|level|terminal|platform|route|highway|age|aged|turning|turns|turned|almost|nearly|version|grade|year|track|channel|lane|zone|apt|suite|we are|were|bus|line|volume|verse|till|step|day|week|month|plus|times|minus|quarter",
            "from_end": "from the end|from last|from the last|from the bottom|to last|from the back",
            "most": "most|greatest",
            "least": "least|fewest",
            "greeting": "good night|good morning|good evening|good afternoon|good luck|goodnight|gn|get back to you|let me think|think about it|thinking about it|sleep on it|haha|lol|hahaha|good day|good to know",
            "found": "you found|we found|i found|we searched|you showed|we talked about|earlier|from before|i liked|i like|we looked at|we discussed|you mentioned|i searched|you recommended|you suggested|from earlier|we saw|found|before|previously|i was looking at|i looked at",
            "question": "what|where|when|how|which|who|does|do|is|are|can|could|whats|what's|wheres|where's|hows|how's|has|have|why|whose",
        }
    ),
    ordinals=numbered(
        "first|frist|firts|fisrt|1rst; second|secnd|2d|secon|sceond; third|thrid|3d|thrd; fourth|forth|fouth; fifth|fith; sixth; seventh; eighth|eigth; ninth; tenth; eleventh; twelfth; thirteenth; fourteenth; fifteenth; sixteenth; seventeenth; eighteenth; nineteenth; twentieth"
    ),
    cardinals=numbered(
        "one|uno; two; three|tree; four; five; six; seven; eight; nine; ten; eleven; twelve; thirteen; fourteen; fifteen; sixteen; seventeen; eighteen; nineteen; twenty"
    ),
    comparisons=comparisons(
        least={
            fields.DEPTH + fields.SIZE + fields.PRICE: "shallowest|shallower",
            fields.WIDTH + fields.SIZE + fields.PRICE: "narrowest|narrower|tightest",
            fields.NOISE + fields.SIZE + fields.PRICE: "quietest|quieter",
            fields.FIRMNESS: "softest|softer",
            fields.PRICE: "cheap|cheaper|cheapest|cheepest|chepest|cheaper one|less expensive|least expensive|lower priced|lowest priced|lowest price|more affordable|most affordable|lower price|least pricey|less pricey|costs less|costs least|costs the least|least costly|less costly|lowest cost|best price",
            fields.DURATION: "short|quicker|quickest|faster|fastest|shorter|shortest|less time|least time|takes less time|takes the least time|lowest time|quick|fast|speedier|speediest|takes less|takes least",
            fields.CLOCK: "early|earlier|earliest|soonest|sooner|starts first|leaves first|comes first|can start first|arrives first|gets here first|gets in first",
            fields.DUE: "due first|due soonest|due next|expires first|expires soonest|expiring first|runs out first|goes off first|ends first|ends soonest",
            fields.DEBT: "owes least|owes the least|least owed",
            fields.AGE: "old|older|oldest|least recent|less recent",
            fields.RATING: "worst|worse|lowest rated|worst rated|lower rated|least stars|fewest stars|lowest rating|least popular",
            fields.WEIGHT: "light|lightest|lighter",
            fields.CALORIES: "healthiest|healthier|fewest calories|lowest calorie|least calories|fewer calories|lower calorie|lowest calories|less calories|lowest in calories|lowest cal|lower in calories",
            fields.DISTANCE: "near|close|most central|more central|nearest|closest|nearer|closer|shortest distance",
            fields.SIZE
            + fields.PRICE: "small|little|tiniest|teeniest|weakest|weaker|emptiest|emptier|thinnest|thinner|smallest|smaller|littlest|lowest|fewest servings|least servings|fewer servings",
            fields.EASE: "easiest|easier|simplest|simpler|least effort|fewest steps|fewest ingredients",
            fields.HEAT: "coldest|colder|coolest|cooler|mildest|milder",
            fields.STOPS: "fewest stops|fewer stops|most direct|least stops|fewest transfers|fewest changes",
        },
        most={
            fields.DEPTH + fields.SIZE + fields.PRICE: "deepest|deeper",
            fields.WIDTH + fields.SIZE + fields.PRICE: "widest|wider|broadest",
            fields.NOISE + fields.SIZE + fields.PRICE: "loudest|louder|noisiest",
            fields.FIRMNESS: "firmest|firmer",
            fields.PAY: "best paid|best paying|highest paid|highest paying|pays the most|pays most|pays best",
            fields.PRICE: "pricey|costly|pricier|priciest|more expensive|most expensive|expensive|costlier|costliest|highest price|higher price|dearest|dearer|costs more|costs most|costs the most|highest priced|most costly",
            fields.DURATION: "long|longer|longest|slower|slowest|most time|takes longest|takes longer|takes the longest|takes the most time",
            fields.CLOCK: "late|later|latest|starts last|leaves last",
            fields.DUE: "due last|expires last|runs out last|ends last",
            fields.DEBT: "owes most|owes the most|owe the most|owe most|most owed|biggest debt",
            fields.RECENT: "most recently|more recently|last used|last seen",
            fields.AGE: "new|newer|newest|most recent|more recent|younger|youngest|more modern|most modern",
            fields.RATING: "best|better|best rated|better rated|highest rated|higher rated|top rated|highest rating|best rating|best reviewed|most stars|more stars|most popular|higher rating|best reviews|highest score|better reviews",
            fields.WEIGHT: "heavy|heaviest|heavier",
            fields.CALORIES: "most calories|highest calories|more calories|highest calorie|richest|most caloric",
            fields.DISTANCE: "far|farthest|furthest|farther|further away",
            fields.SIZE
            + fields.PRICE: "big|large|strongest|stronger|fullest|fuller|thickest|thicker|steepest|steeper|most valuable|worth the most|worth most|biggest|bigger|largest|larger|roomiest|most spacious|most servings|serves the most|serves most|more servings",
            fields.HEIGHT + fields.SIZE + fields.PRICE: "highest|tall|tallest|taller",
            fields.EASE: "hardest|harder|most difficult|more difficult|trickiest|most complicated",
            fields.HEAT: "hottest|hotter|warmest|warmer|spiciest|spicier",
        },
    ),
    attributes=named(
        {
            "price|cost|costs|how much|fare|charge|fee|rent|pricey|expensive|money": fields.PRICE,
            "address|located|location|directions|where|street|place located": phrases(
                "address|location|street|city|area|venue|place"
            ),
            "phone|number|phone number|telephone|contact": phrases("phone|telephone|number|contact"),
            "rating|rated|stars|reviews|review|score|star": fields.RATING,
            "how long|duration|takes|length": fields.DURATION,
            "what time|when|start time|starts|begin|leave|depart|arrive|date": fields.CLOCK,
            "calories|caloric|nutrition": fields.CALORIES,
            "far|distance": fields.DISTANCE,
            "postcode|postal code|zip|zipcode|post code": phrases("postcode|zip|postal"),
            "pets|pet": phrases("pets|pet"),
            "wifi|wi-fi|internet": phrases("wifi|internet"),
            "genre|kind of music|kind of movie": phrases("genre|category"),
            "director|directed": phrases("director|directed"),
            "humidity|humid": phrases("humidity"),
            "windy|wind": phrases("wind"),
            "rain|raining|precipitation": phrases("precipitation|rain"),
        }
    ),
    weekdays=numbered(
        "monday|mon; tuesday|tue|tues; wednesday|wed|weds; thursday|thu|thur|thurs; friday|fri; saturday|sat; sunday|sun",
        start=0,
    ),
    months=numbered(
        "january|jan; february|feb; march|mar; april|apr; may; june|jun; july|jul; august|aug; september|sep|sept; october|oct; november|nov; december|dec"
    ),
    stop=word_set(
        "a|an|the|of|in|on|at|to|for|with|and|or|but|is|are|was|were|be|been|it|its|it's|this|that|these|those|i|you|he|she|we|they|me|my|your|our|their|his|her|do|does|did|can|could|will|would|should|may|might|have|has|had|not|no|yes|so|as|by|from|up|out|about|into|over|after|before|please|thanks|thank|ok|okay|just|then|than|there|here|what|which|who|when|where|how|why|if|all|any|some|more|most|other|such|only|own|same|too|very|s|t|im|i'm|i'd|i'll|i've|let's|lets|don't|dont|get|got|want|need|like|make|one|ones|thing|things|also|now|one's|go|going|much|many|give|show|tell|see|find|really|still|us|them|him|say|said|know|think|look|looks|sound|sounds|good|great|nice|fine|well|yeah|sure|hi|hello|hey|new|first|last|next|that's|thats|what's|whats|right|am|pm"
    ),
)
