"""English words by which names are told from everyday words with a capital.

The lists are general: they hold what a rule cannot see by itself, such as that a sentence often
opens with "Yesterday" and hardly ever with "Caroline" unless she is meant.
"""

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEVER_NAMES: Final = _words("""
    i me my mine myself us let ok okay etc vs ie eg re ps hi hello hey dear thanks thank please
    sorry yes no yeah yep nope nah sure wow haha lol oh ah oops ugh hmm um well welcome bye goodbye
    congrats congratulations cheers today tomorrow yesterday tonight monday tuesday wednesday
    thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays
    mon tue tues wed thu thur thurs fri sat sun january february march april may june july august
    september october november december jan feb mar apr jun jul aug sep sept oct nov dec spring
    winter christmas easter halloween thanksgiving eve mom mum mommy mama dad daddy papa grandma
    grandpa granny grandmother grandfather mother father mr mrs ms miss mister madam sir dr doctor
    prof professor uncle aunt auntie captain president senator minister officer judge pastor coach
    nurse king queen prince princess detective sergeant lieutenant colonel general chairman director
    manager lady lord english french german spanish italian chinese japanese korean russian
    portuguese arabic hindi dutch greek turkish polish swedish mandarin cantonese latin american
    british european asian african indian mexican canadian australian irish scottish western eastern
    user assistant system human customer client admin speaker agent bot todo fixme note notes faq
    tldr update warning error errors bug info debug internet web wifi wi-fi email e-mail app apps pc
    tv phd ceo cto cfo coo vp hr pr ai ml api apis url urls http https html css json xml yaml csv
    pdf sql ui ux id ids os cpu gpu ram usb ssd cd dvd diy faqs fyi asap btw imo imho omg idk tbh
    rsvp am pm bc ad utc gmt est pst lgbtq bbq vip atm gps ssl tls tcp ip dns vpn sdk ide cli ci qa
    kpi okr roi b2b b2c suv mri ct dna rna hiv adhd ptsd ocd iq gpa gre llm llms rag npc pto wfh eta
    poc mvp crud orm jwt oauth rest rpc god jesus q a b c jr sr gonna gotta wanna lemme gimme kinda
    sorta dunno cuz woah whoa aww aw awww yup yum oof woohoo yay yea mm ha hah phew bummer kudos
    anytime ooh eh huh geez gosh damn yikes hooray hurray ta xoxo one two three four five six seven
    eight nine ten eleven twelve twenty hundred thousand million midwest tons absolutely woo dang
    somewhat looky true false follow-up righto understood ppt xx
""")
"""Written with a capital, yet no names: they also part the names beside them ("Dr. Smith")."""

OPENERS: Final = _words("""
    about above according across actually add additionally admittedly after afterwards again ago
    agree all allow almost along already alright also although always amazing and another any
    anybody anyone anything anyway anyways apart apparently appreciate around as ask at avoid
    awesome back basically be because become been before begin being believe below besides best
    better between beyond big both break breathe bring build but buy by call came can cannot change
    check choose clean clearly click close come compare complete consider continue convert cook copy
    could count create currently cut damn decide define definitely delete depending describe despite
    did discuss do does don done download draw drink drive drop due during each earlier early eat
    even eventually ever every everybody everyone everything everywhere exactly excellent except
    excited excuse explain fair fast feel few fill finally find finish first fix follow following
    for forget fortunately forward from funny further get give given glad go going gone good got
    great grab guess had half hang happy has have having he hear help hence her here his hold
    honestly hope hopefully how however huge if ignore imagine implement improve in include
    including indeed initially insert inside install instead interesting into is isn it its join
    just keep kinda know last late lately later latest learn least leave less like list listen
    little live long look looking looks lots love loved lovely luckily made mainly make many maybe
    mean meanwhile meet meeting might mix more moreover most mostly move much must my near nearly
    need never nevertheless new next nice no nobody none nor normally not nothing now obviously of
    off often old on once one only open or order originally other others otherwise our out outside
    over overall own park particularly past pay perfect perhaps personally pick place plan planning
    play plus pour practice prefer prepare pretty previously probably provide pull push put quick
    quickly quite rather read ready really recently recommend regarding remember remind remove
    replace reply restart return right run said save say says second see seems send seriously set
    several share she should show similarly simply since sit skip sleep slowly so some somebody
    somehow someone something sometimes somewhere soon sounds speak spend start still stop strange
    such suddenly suggest sunny super suppose surely take talk tell test than that the their them
    then there therefore these they think third this those though three through throughout thus till
    time to together too totally touch toward translate travel treat tried true truly trust try
    trying turn two type typically ultimately under unfortunately unless until up upload upon
    usually use used using very via visit wait wake walk want was wash watch we wear were what
    whatever when whenever where whereas wherever whether which while who whoever whole whose why
    will wish with within without wonderful work would write wrong yet you your
""")
"""What sentences begin with: a capital there says nothing."""

EVERYDAY: Final = _words("""
    adjust allocate analyze apply attorney capture chart clarify collaborate comparison conduct
    consistent consult dedicate detail document draft enhance estimate example factor flexible goal
    handover implication incorporate inheritance initial insight integrate leverage minimalist
    objective optimize outline oversight peer percentage perspective preparation prioritize receipt
    restrict robust sample scenario script seek specific statement storytelling strategy streamline
    structure tailor template timeline tip tone transfer utilize wellness workflow zoom absorb
    acknowledge actual additional address alternative annual assess balance bonus boundary
    brainstorm ability able access accident account act action active activity actor adult advantage
    adventure advice affair afternoon age agency agreement air airport album alone amount anger
    angry animal anniversary answer apartment app appeal appearance apple application appointment
    approach area argument arm army art article artist aspect attack attempt attention attitude
    audience author autumn award awareness baby bad bag bake ball band bank bar base basic
    basketball bath bathroom beach bean bear beat beautiful beauty bed bedroom beer behavior belief
    benefit bicycle bike bill bird birthday bit black blood blue board boat body bone book boss
    bottle bottom bowl box boy boyfriend brain branch brave bread breakfast breath bridge brief
    bright broken brother brown brush budget buddy bug burn bus business busy butter button cake
    camera camp campaign cancel cancer candle candy capital car card care career carry case cash cat
    cause cell center central century chair challenge champion chance chapter character charge
    charity chat cheap cheese chef chicken child children chocolate choice church cinema city class
    classic client climate climb clinic clock cloth clothes cloud club coach coast coat code coffee
    cold colleague collect college color comfort command comment committee common community company
    competition computer concern concert condition conference connect connection content contest
    context contract control conversation cookie cool corner correct cost cough country couple
    courage course court cousin cover crazy cream creative credit crime critical crowd cry culture
    cup curious current curtain custom cycle daily dance danger dark data database date daughter day
    dead deadline deal death debate debt decision deep default degree delicious delivery demand
    dentist department deploy depth design desk develop device diet difference different difficult
    digital dining dinner direct direction dirt discover discovery disease dish distance divorce dog
    door doubt dream dress driver drug dry duty ear earth ease east easy economy edge editor
    education effect effort egg election electric emotion employee empty end energy engine engineer
    enjoy enough enter entry environment equipment error escape essay essential evening event
    evidence exam exchange excite exercise exhibit expect expense experience experiment expert
    express eye face fact fail failure faith fall false family famous fan fantastic far farm fashion
    fat fault favorite fear feature fee feed feedback fellow female festival fever fiction field
    fight figure file film final finance finger fire firm fish fit fitness flat flight floor flower
    flour fly focus folk food foot football force foreign forest form format fortune frame free
    freedom fresh fridge friend friendship fruit full fun function fund furniture future gain
    gallery game garage garden gas gate general gift girl girlfriend glass gold golden golf goodness
    government grade grand grant grass grateful green grocery ground group grow guest guide guitar
    gun gym habit hair hall hand handle happen hard harmony hat hate head headache health healthy
    heart heat heavy height hidden high highlight hike hill history hit hobby holiday home homework
    honest honey honor horror horse hospital host hot hotel hour house housework hug human hungry
    hunt hurry hurt husband ice icon idea image immune impact important impression incident income
    incredible index individual industry information injury input insect inspiration instance
    institute instruction insurance intention interest interview investment invite invoice island
    issue item jacket jam jazz job jog joke journal journey joy juice jump kid kill kind kitchen
    knee knife knowledge lake lamp land language laptop large laugh laundry law lawyer layer lead
    leader leg lemon lesson letter level library license lie life lift light limit line link lion
    lip literature load loan local lock log logic lonely loss lot loud lower luck lunch machine
    magazine magic mail main major male man management map mark market marriage master match
    material math matter meal measure meat media medicine medium member memory men mental menu merge
    mess message metal method middle midnight military milk mind minute mirror mission mistake
    mobile mode model moment money month mood moon morning motivation motor mountain mouse mouth
    movie museum music musician name nation nature neck negative neighbor nervous network news
    newspaper night noise normal north nose notice novel number object ocean offer office oil online
    operation opinion opportunity option orange organic original output oven owner pack package page
    pain paint pair pancake panic pants paper parent parking part partner party pass passenger
    passion password pasta patience patient pattern peace pen people pepper performance period
    permission person pet phase phone photo photography piano picnic picture piece pile pink pizza
    plane planet plant plastic plate platform player pleasure pocket poem poet point police policy
    politics pool poor pop popular population port position positive possible post pot potato pound
    power present press pressure price pride primary print printer priority prison private prize pro
    problem process produce product production profession profile profit program progress project
    promise proof proper protect protein proud public pull puppy purple purpose puzzle quality
    quarter query question queue quiet quit quote race radio rain random range rate raw reach
    reaction reality reason receive recipe record red reduce refund regular relation relationship
    relax release relief religion rent repair repeat report request require rescue research
    reservation resource respect respond response rest restaurant result resume review reward rice
    rich ride ring rise risk river road rock role roof room root rose routine row rude rule rush sad
    safe safety salad salary sale salt same sand sauce scale scared scene schedule school science
    score screen sea search season seat secret section security seed self sell senior sense sentence
    series serious server serve service session setup sever shadow shape shelter ship shirt shoe
    shop short shot shoulder shower sick side sight sign signal silence silver simple sing singer
    single sister size skill skin sky slice slow small smart smell smile smoke snack snow soap
    soccer social society soft software soil solution son song sore sorrow sort soul sound soup
    source south space spare special speech speed spicy spirit sport spot square stable staff stage
    stairs standard star state station status steal step stick stomach storage store storm story
    street strength stress stretch strong student studio study stuff stupid style subject success
    sudden suffer sugar suit summary summer sun supper supply support surface surgery surprise sweet
    swim switch symptom table task taste tax taxi tea teach teacher team tech technology teen
    telephone television temperature temple tennis term terrible terrific text thankful theater
    theme theory therapist therapy thing thousand throat throw ticket tidy tight tire title toe
    tomato tool tooth top topic total tour tournament town toy track trade tradition traffic trail
    train treatment tree trick trip trouble truck truth tune twin typical ugly uncomfortable
    understand union unique unit university unlock urgent usage vacation valley value van vast
    vegetable vehicle version vet victory video view village violin virus vision voice volunteer
    vote wage wall war warm waste water wave way weak wealth weather wedding week weekday weekend
    weight weird west wet white wide wife wild win wind wine wing winner wire wise woman women
    wonder wood word worker workout workshop world worry worse worst worth yard year yellow yoga
    young youth zero zone absolute accept accurate achieve adopt advance advise affect afford aim
    announce apologize arrange arrive assist assume attach attend aware blame bless boil borrow
    bother calculate calm catch celebrate chop combine commit communicate communication compute
    confirm confuse congratulate contact contain contribute convince cope crash cross deliver deny
    depend deserve desire destroy determine differ disappear disappoint distract divide donate drain
    dump earn edit embrace emphasize enable encourage engage ensure establish evaluate examine exist
    expand explore extract fetch fold freeze fry gather generate grill harvest hesitate identify
    impress increase indicate inform inspire intend introduce invent invest involve iron journaling
    kick kiss knock lack launch lend listen locate lose maintain manage meditate mention miss mock
    monitor multiply notify observe obtain occur operate organize overcome participate pause perform
    persuade predict pretend prevent proceed propose prove publish purchase pursue react realize
    recall recover refer refine reflect refuse regret reject relate rely remain render resolve
    retire reveal revise ruin satisfy scan select separate settle sew shake shine shout shut sigh
    sketch solve spill spread squeeze stare stay steam stir strive struggle submit succeed suggest
    summarize survive swap sync tag tend thrive key squat dynamic technique bloody former persona
    protagonist copyright activist backyard chess coconut comedy confidence contemporary domestic
    gaming guidance heard identity laughter mentor obstacle pottery sunflower thought trilogy turtle
    veggie setback sent unconditional reproduce kindness clip sunset sunrise overview resort lyric
    pricing building coming rank toss trace transform trigger update upgrade validate vary verify
    warn weigh whisper wipe wrap yell zip bittersweet glorious gorgeous cute cozy creepy fancy
    gentle grumpy humble lazy lucky mad messy nasty neat noisy odd painful peaceful polite precious
    rare rough sharp shy silly smooth solid spooky steady sticky stunning swift tasty thick thin
    tiny tough vivid
""")
"""Everyday nouns, adjectives and verbs, in their plain form."""

NAMES_THAT_ARE_WORDS: Final = _words("""
    will mark grace hope rose joy jack bill art ray dawn faith summer autumn amber ruby jade crystal
    frank grant chase miles max rich drew pat sue gene bob iris violet olive daisy lily ivy june
    april may august hunter mason carter cooper parker taylor tyler jasmine melody harmony destiny
    victor guy skip chip rusty sandy robin jay dean duke earl king penny ginger coral pearl star
""")

NAME_VERBS: Final = _words("""
    said says told tells went goes asked asks likes loves liked loved wants wanted called came comes
    lives lived works worked moved thinks thought bought got took has had is was and just never
    always also
""")
"""What stands after a person at the beginning of a sentence."""

ACTS_OF_PEOPLE: Final = NAME_VERBS - _words("is was has had and just never always also")

NAMES_BUILT_AS_WORDS: Final = _words("""
    emily kelly molly sally lily holly polly billy willy italy carly beverly kimberly shelly nelly
    ally clement sterling irving ming ling ping florence lawrence clarence vance france terrence
    adams williams edwards roberts stephens jenkins collins hopkins brooks banks stevens evans owens
    andrews matthews myers rogers peters travers connors mars hans jens los angeles athens wales
    netherlands philippines maldives bahamas windows reuters sears levis
""")

MONTHS: Final = _words("may june april august")
"""Months that people are named after as well: the month is meant more often."""

DETERMINERS: Final = _words("""
    the a an my your our his her their this that these those each every any some no its it me us
    them him you all both more another what which
""")

JOINING: Final = _words(
    "of the and & de la del di da du van von der den bin al el y to in on for with at"
)
"""What may stand between the words of one name."""

NAME_BEGINNINGS: Final = _words("""
    new san santa los las saint st mount mt lake north south east west port fort great central
""")

UNITS: Final = _words("""
    times years year days day hours hour minutes seconds months weeks people dollars euros yuan
    percent miles km kg am pm of more other or and
""")
"""A number before one of these counts; it does not belong to the name before it."""

TITLE_CUES: Final = _words("""
    called named titled watch watched watching read reading reads finished book books movie film
    song novel album show game series playing played play podcast band episode saw seen
""")

DOMAIN_ENDINGS: Final = (
    "com|org|net|io|dev|ai|app|cn|uk|de|fr|jp|edu|gov|co|me|info|tv|us|eu|ca|au|in|hk|tw|xyz|cloud"
)

FILE_ENDINGS: Final = (
    "py|pyi|js|jsx|ts|tsx|java|kt|go|rs|rb|php|c|h|cpp|hpp|cs|swift|sh|sql|html|css|scss|json|"
    "jsonl|yaml|yml|toml|ini|cfg|conf|env|lock|md|rst|txt|csv|tsv|xml|pdf|docx|xlsx|pptx|doc|xls|"
    "ppt|png|jpg|jpeg|gif|svg|mp3|mp4|zip|gz|log|ipynb|vue|db|sqlite"
)
