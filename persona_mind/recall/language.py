"""Function words, negations and month names of the five languages, as data.

A function word is never indexed, since it tells nothing about what a text is about; question words are among
them for the same reason. They also tell which language a text is in.
"""

from __future__ import annotations

from types import MappingProxyType

LANGUAGES = ("english", "italian", "german", "french", "spanish")
"""Snowball's names of the languages that texts are told apart by."""

_FUNCTION_WORDS = {
    "english": """
        a about above after again against all also am an and any are aren as at be because been before being
        below between both but by can cannot could couldn d did didn do does doesn doing don down during
        each either ever few for from further get gets getting got had hadn has hasn have haven having he
        hello her here hers herself hey hi him himself his how however i if in into is isn it its itself
        just kind let ll m many may maybe me might more most much must my myself neither no nor not now of
        off oh ok okay on once only or other ought our ours ourselves out over own quite rather re really s
        same shall shan she should shouldn so some sort still such t than that the their theirs them
        themselves then there these they this those though through to too type under until up upon us ve
        very was wasn we well were weren what whatever when where whether which while who whom whose why
        will with without won would wouldn yeah yes yet you your yours yourself yourselves
    """,
    "italian": """
        a abbia abbiamo agli ai al alla alle allo anche ancora avere aveva avevo avrà c che chi ci ciò coi
        col come con cosa così cui d da dagli dai dal dalla dalle dallo degli dei del della delle dello
        dentro di dice dopo dove e è ed era erano essere fa fino fra fu già gli ha hai hanno ho i il in io
        la le lei li lo loro lui ma me mi mia mie miei mio molto ne negli nei nel nella nelle nello no noi
        non nostra nostre nostri nostro o od ogni per perché però più poi può qual quale quali quando quanta
        quante quanti quanto quel quella quelle quelli quello questa queste questi questo qui s sarà se sei
        si sì sia siamo sono sta stata stati stato su sua sue sui sul sulla sulle sullo suo suoi te ti tra
        tu tua tue tuo tuoi tutta tutte tutti tutto un una uno vi voi vostra vostro
    """,
    "german": """
        aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin bis
        bist da damit dann das dass daß dein deine deinem deinen deiner dem den denn der des dessen dich die
        dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es
        etwas euch euer eure für gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn
        ihnen ihr ihre ihrem ihren ihrer im in indem ins ist ja jede jedem jeden jeder jedes jene kann kein
        keine keinem keinen keiner können machen man manche mein meine meinem meinen meiner mich mir mit
        muss musste nach nein nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner
        seit selbst sich sie sind so solche soll sollte sondern sonst über um und uns unser unsere unter
        viel vom von vor war waren warum was weil welche welchem welchen welcher welches wem wen wenn wer
        werde werden wessen wie wieder will wir wird wirst wo woher wohin wollen worden wurde wurden würde
        zu zum zur zwar zwischen
    """,
    "french": """
        à ai aie ainsi as au aussi autre aux avait avec avez avoir avons c car ce cela ces cet cette ceux
        chez comme comment d dans de depuis des donc dont du elle elles en encore es est et étaient était
        étant été être eu eux fait faut il ils j je l la là le les leur leurs lui m ma mais me même mes moi
        mon n ne ni nos notre nous on ont ou où par parce pas pendant peu peut plus pour pourquoi qu quand
        que quel quelle quelles quels qui quoi s sa sans se sera ses si son sont sous suis sur t ta te tes
        toi ton tous tout toute toutes très tu un une vers vos votre vous y
    """,
    "spanish": """
        a al algo algunas algunos ante antes aquel aquella así aún aunque cada como cómo con contra cual
        cuál cuáles cuando cuándo cuánto cuántos de del desde donde dónde dos durante e el él ella ellas
        ellos en entre era eran eres es esa ese eso esta está están estas este esto estos fue fueron ha
        había hacer han has hasta hay he la las le les lo los más me mi mí mis mucho muy nada ni no nos
        nosotros nuestra nuestro o os otra otro para pero poco por porque que qué quien quién quiénes se sea
        ser será si sí sido sin sobre somos son soy su sus también tanto te tengo tiene tienen todo todos tu
        tú tus un una uno unos usted y ya yo
    """,
}

FUNCTION_WORDS = MappingProxyType({name: frozenset(words.split()) for name, words in _FUNCTION_WORDS.items()})
"""The words of each language that are counted to guess a text's language, and never indexed in it."""

_NEGATIONS = """
    no not t never none nobody nothing nowhere neither nor without cannot avoid forbidden
    non mai nessun nessuna nessuno niente nulla né neanche neppure nemmeno senza vietato evitare evita
    nicht nie niemals kein keine keinem keinen keiner keines nichts niemand nirgends weder ohne verboten
    ne pas jamais aucun aucune rien nul nulle sans interdit
    nunca jamás ningún ninguna ninguno nada nadie tampoco sin prohibido
"""
NEGATIONS = frozenset(_NEGATIONS.split())
"""Words that turn a statement round, in any of the languages; ``t`` is what is left of ``don't``."""

_MONTHS = """
    january gennaio januar janvier enero jan
    february febbraio februar février febrero feb
    march marzo märz mars mar
    april aprile avril abril apr
    may maggio mai mayo
    june giugno juni juin junio jun
    july luglio juli juillet julio jul
    august agosto août aug
    september settembre septembre septiembre sep sept
    october ottobre oktober octobre octubre oct
    november novembre noviembre nov
    december dicembre dezember décembre diciembre dec
"""

MONTHS = MappingProxyType(
    {name: number for number, line in enumerate(_MONTHS.strip().splitlines(), 1) for name in line.split()}
)
"""Names of months in any of the languages, lower case, and their numbers."""

_QUESTIONS = """
    what when where which who whom whose why how did does do is are was were has have had can could would will
    che chi cosa quale quali quando dove come perché quanto quanti quanta quante
    was wann wo wer wem wen warum wieso welche welcher welches wie wohin woher
    que quel quelle quels quelles quand où comment pourquoi qui combien
    qué cuál cuáles cuándo dónde cómo quién quiénes cuánto cuántos
"""
QUESTIONS = frozenset(_QUESTIONS.split())
"""Words that a question begins with, in any of the languages."""

ASKS_WHEN = frozenset({"when", "quando", "wann", "quand", "cuándo"})
"""Words that ask for a time; they count among the first two words of a question."""

_TIMES = """
    yesterday today tonight tomorrow ago last next week weekend month year recently soon monday tuesday wednesday
    thursday friday saturday sunday morning evening
    ieri oggi stasera domani fa scorso scorsa prossimo prossima settimana mese anno lunedì martedì mercoledì giovedì
    venerdì sabato domenica
    gestern heute morgen vor letzte letzten letztes nächste nächsten woche monat jahr montag dienstag mittwoch
    donnerstag freitag samstag sonntag
    hier aujourd demain dernier dernière prochain prochaine semaine mois année lundi mardi mercredi jeudi vendredi
    samedi dimanche
    ayer hoy mañana pasado pasada próximo próxima semana mes año lunes martes miércoles jueves viernes sábado domingo
"""
TIMES = frozenset(_TIMES.split()) | (MONTHS.keys() - {"may", "mars", "mar", "set", "march"})
"""Words by which a text tells a time, in any of the languages; names of months that mean something else left out."""

_TIME_PREPOSITIONS = """
    in on of since until till during before after by around this last early late mid next
    a ad di nel nell dal da entro prima dopo durante questo scorso
    im am seit bis vor nach um diesen letzten
    en au de depuis avant après pendant ce
    en de desde hasta antes durante este
"""
TIME_PREPOSITIONS = frozenset(_TIME_PREPOSITIONS.split())
"""Words after which the name of a month or a year is one."""

RELATIVE = MappingProxyType(
    {
        **dict.fromkeys(("today", "oggi", "heute", "aujourd", "hoy"), (0, -1)),
        **dict.fromkeys(("yesterday", "ieri", "gestern", "hier", "ayer"), (1, 0)),
        **dict.fromkeys(
            ("last week", "settimana scorsa", "letzte woche", "semaine dernière", "semana pasada"), (14, 0)
        ),
        **dict.fromkeys(("last month", "mese scorso", "letzten monat", "mois dernier", "mes pasado"), (62, 0)),
        **dict.fromkeys(("last year", "anno scorso", "letztes jahr", "année dernière", "año pasado"), (730, 0)),
    }
)
"""Expressions of time counted back from today, and the first and last midnight they mean, in days ago.

``last week`` may be said of the week before this or of the last seven days, so both are in it.
"""
