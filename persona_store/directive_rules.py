"""The directive rules: for each the words that wake it, and what must follow them.

A rule is ``name: triggers => what follows``; ``name!`` asks that the trigger begins a sentence or follows a word
that leads into an order. Words are folded: lower case, no accents, no apostrophes. In what follows, each element
is one word:

    this|that        one of them; ``word?`` has an optional last letter, ``two_words`` are two
    ?this|that       may be left out
    !this|that       must not stand here
    ~4               up to four words of any kind
    {PRIOR}          a word of that class
    .                a sentence end or a colon; ``:`` a colon; §url and §mail are addresses

A hint (``kind: triggers => what follows``) says little alone; hints of three kinds together make a text an
attempt to talk a model out of its bounds.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator


class Rule:
    """A phrase that makes a text a directive, or hints at one.

    Args:
        name: The rule's name, or a hint's kind.
        triggers: The words that wake it.
        follows: What must follow, in the notation above.
        opens: Whether the trigger must begin a sentence or follow a word that leads into an order.
    """

    def __init__(self, name: str, triggers: frozenset[str], follows: str, *, opens: bool) -> None:
        self.name = name
        self.triggers = triggers
        self.opens = opens
        self._follows = follows

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches where the trigger starts, in a line of words each followed by a space."""
        return _pattern(self._follows)


_CLASSES: Final = """
IGNORE = ignore ignoring disregard disregarding forget forgetting bypass neglect discard dismiss ignora ignorate
    ignorare ignori dimentica dimenticate dimenticare scorda trascura ignoriere ignorieren ignoriert vergiss vergesst
    vergessen missachte missachten ignorez ignorer oublie oubliez oublier ignorad olvida olvide olviden olvidad
    olvidar descarta ignorem esqueca esquecam esquecer desconsidere desconsiderem desconsiderar negeer negeren vergeet
OVERRIDE = override overrides overriding supersede supersedes supersedi sovrascrivi sovrascrivere annulla
PRIOR = previous prior above earlier preceding foregoing past former initial original precedente precedenti sopra
    iniziali originali precedents precedentes anteriores anterior previas previos vorherige vorherigen vorige vorigen
    bisherige bisherigen obige obigen fruheren eerdere voorgaande bovenstaande acima
COMMANDS = instructions? directives? guidelines? prompts? istruzione istruzioni direttiva direttive anweisung
    anweisungen instruktionen vorgaben consignes? instruccion instrucciones instrucoes instrucao diretrizes instructies
    instructie aanwijzingen
ORDERS = instructions? directives? guidelines? prompts? orders commands? directions messages conversations? inputs?
    programming training istruzione istruzioni direttiva direttive indicazioni comandi ordini nachrichten befehle?
    anweisung anweisungen instruktionen vorgaben consignes? instruccion instrucciones indicaciones ordenes ordres
    mensajes instrucoes instrucao diretrizes ordens comandos mensagens instructies instructie aanwijzingen opdrachten
    berichten
BOUNDS = rules? restrictions? limitations? policy policies safety safeguards? filters? guardrails? constraints ethics
    regola regole restrizioni limiti regeln? richtlinien beschrankungen regles? reglas? restricciones regras?
    restricoes regels? richtlijnen beperkingen
YOUR = your youre tuo tua tue tuoi dein deine deinen deiner ihre ihren tes votre vos tu tus su sus seus suas
    jouw uw
MODEL = ai a_i llms? bots? chatbots? chatgpt gpt gpt4 claude gemini copilot assistants? agents? models?
    language_models? modello assistente modell assistent asistente modelo
UNBOUND = unrestricted uncensored unfiltered unlimited amoral evil jailbroken unbound uneingeschrankt dan stan dude
    developer maintenance debug god sudo admin administrator root hacker
USER = user human owner operator utente utenti benutzer nutzer utilisateur usuario gebruiker
REPLY = reply replies responses? answers? messages? outputs? risposta risposte antwort antworten reponses? respuestas?
BARE = reveal show print display output repeat dump expose leak recite rivela rivelami mostra mostrami ripeti dimmi
    stampa zeige zeig nenne wiederhole verrate montre montrez revele revelez repete repetez affiche muestra muestrame
    revela repite dime mostre revele repita imprima toon onthul herhaal
SHOW = reveal show print display output repeat tell give dump expose leak list share send write encode translate
    summarize recite rivela rivelami mostra mostrami ripeti dimmi stampa zeige zeig nenne wiederhole verrate montre
    montrez revele revelez repete repetez affiche muestra muestrame revela repite dime mostre
    repita imprima diga toon onthul herhaal
TOLD = prompts? instructions? guidelines directives istruzioni anweisungen instrucciones consignes prompt_di_sistema
    system_prompts? instrucoes instructies
MEASURE = length size template tokens? count hash version name file path id builder field column cache tests? class
"""

_RULES: Final = """
override: {IGNORE} => ~5 {PRIOR} ~3 {ORDERS}
override: {IGNORE} => ~5 {COMMANDS} ~4 {PRIOR}
override: {IGNORE} => ~3 previous|prior|your ~2 {BOUNDS}
override: {IGNORE} {OVERRIDE} => ~2 {YOUR} ~3 {ORDERS}|{BOUNDS}
override: {IGNORE} => ~2 system_prompt|system_message|system_instructions|prompt_di_sistema|systemprompt
override: {OVERRIDE} => ~3 {PRIOR} ~2 {COMMANDS}
override: {OVERRIDE} => all ~1 prior|previous ones|instructions|rules|orders
override: {IGNORE} => all|any|every|these|those|alle|tutte|todas|toutes ~2 {COMMANDS}
override!: {IGNORE} => ~1 {COMMANDS}
override: {IGNORE} => all|everything|anything|alles|tutto|todo|tout ~3 above|before_.|before_that|before_this
    |before_and|before_now|previously|prior|told|said|from_before|from_above|from_chat|from_earlier|given|learned
    |besprochen|detto|dicho|dit
override: {IGNORE} => everything|anything ~2 you ~2 know|told|learned|were
override: ignore disregard => the user
override: ignore disregard bypass skip disable => ~1 all|any ~1 safety|security|content|ethical|moral rules|checks
    |guidelines|policies|policy|filters|restrictions|protocols|measures
override: following instructions => instructions|directives ~4 override|supersede|replace
override: follow obey => ?only these|this|the_following|my ?new instructions?|directives?|rules? instead|only|from_now
override: stop => everything|all_tasks|what_youre_doing|what_you_are_doing ~4 just|print|say|output|ignore|instead
override: nevermind => ~2 ignore|instead|print|say
override: do => not ~1 follow|obey ~2 {PRIOR}|your|system ~2 {COMMANDS}|rules

override!: negeer negeren vergeet sla => ~2 je|jouw|uw|alle|deze ~3 {ORDERS}|{BOUNDS}
override: ignore ignora esqueca desconsidere => ~1 seu|sua|seus|suas|as|os|todas|todos ~3 {ORDERS}|{BOUNDS}
override: esqueca ignore desconsidere => tudo ~3 acima|antes|anteriormente|disse|dito
override: vergeet negeer => alles ~4 hiervoor|hierboven|eerder|gezegd|geleerd|weet

new-instructions: new updated revised neue nuove nuevas nouvelles => ?system {COMMANDS} :|for_you|you_are|you_must
    |you_will|you_should|are_as_follows|from_now|ab_sofort|supersedes?
new-instructions: your => new|only|real|true|actual instructions?|directives?|task|mission|purpose|goal|objective is
    |are|supersedes?|.
new-instructions: rules => have ?been changed|updated|replaced ?. ~2 you ?now|may|must|can
new-instructions: system => override|update|notice|alert|note|message|instruction|directive|command . ~3 you|your
    |safety|ignore|all|must|before|disabled?|new|activated|the_user
new-instructions: nota note => ?di|del|de sistema|systeme
new-instructions: override => ?. ~3 protocols?|safety|filters?|restrictions? ~2 disabled|off|lifted|removed
new-instructions: administrator admin developer root => override .|display|show|mode|activated|command|code

role: you youre => ?are|re now ?on in|going_to|operating|acting|known_as|called|no_longer|free|a|an|the ~4 {UNBOUND}
    |{MODEL}|mode|character|persona|version|bound|restricted|limited
role: you youre => ?are|re now {UNBOUND}|free_from|free_of|a_different|no_longer
role!: act behave respond answer => as|like ?if ?a|an|the ~4 {UNBOUND}|{MODEL}|no_filters?|no_rules|no_restrictions
    |no_limits|have_no
role!: act behave => as|like ?a|an|the system .|and|prompt|message
role: act behave => as|like ~12 unfiltered|uncensored|amoral|immoral|unethical|illegal|restrictions|jailbreak|persona
    |roleplay
role: pretend simulate emulate => ?to_be|you_are|youre|you_have|that_you|being|as_if|a|an ~5 {UNBOUND}|{MODEL}
    |no_rules|no_restrictions|no_filters|no_limits|no_content
role: assume adopt embody take play immerse => ~4 persona|identity|role|character ~8 {UNBOUND}|{MODEL}|villain|demon
    |criminal
role: you youll => are_going_to|will|must|now|have_to|shall ~1 act|pretend|roleplay|simulate|respond|answer|behave as
    |like|to_be
role: from => now|this_point|this_moment|this_message ?on|onwards?|forward ~1 you|youre|youll ~3 act|respond|answer
    |reply|speak|pretend|comply|obey|ignore|have_no|have_to_answer|have_to_respond|are_a|are_an|are_the|are_no
    |are_free|are_going_to|are_in|are_my|roleplay|simulate|assume|play|no_longer
role: from => now|this_point|this_moment|this_message ?on|onwards?|forward ~1 respond|answer|reply|act|speak|ignore
    |pretend|whenever_a_user|whenever_the_user|whenever_an_user
role: ab => sofort|jetzt ~1 hast_du|gibst_du|bist_du|antwortest_du|ignorierst_du|wirst_du
role: you => must|will|should|can ~1 comply ~2 every|any|all|each|fully
role: you => have no|zero restrictions|limits|limitations|filters|rules|boundaries|guidelines
role: enable enter activate switch => ~3 dan|god|jailbreak|unrestricted|sudo mode
role: developer => mode enabled|activated
role: do => anything now
role: du => bist jetzt ~4 frei|uneingeschrankt|{UNBOUND}|{MODEL}|modus|rolle|befolgst|ohne
role: ahora => estas|eres ~4 sin|modo|libre|{UNBOUND}|{MODEL}
role: sei => ora|adesso ~4 libero|senza|modalita|{UNBOUND}|{MODEL}
role: vous tu => etes|es desormais|maintenant ~4 libre|sans|mode|{UNBOUND}|{MODEL}
role: voce => ?e|esta agora ?e ~4 sem|livre|modo|{UNBOUND}|{MODEL}
role: agora => voce e|esta|sera ~4 sem|livre|modo|{UNBOUND}|{MODEL}
role: partir => de agora ~1 voce ~2 responde|responda|deve|vai|e|age|ignora|obedece
role: je => bent|ben nu|voortaan ~4 zonder|vrij|modus|{UNBOUND}|{MODEL}
role: vanaf => nu ben|moet|ga|antwoord|geef je ~4 zonder|vrij|altijd|alles|nooit|{UNBOUND}|{MODEL}
role: without sin ohne senza sans => ?any|having|following ethical|moral|content restrictions?|filters?|filtro
    |censorship|limits|limitations|guidelines|boundaries
role: answer answers respond reply comply speak antworten rispondi rispondere repondre repondez responde responder =>
    ~4 without|senza|sans|ohne|sin ~2 restrictions?|limits|limitations|filters?|filtro|censorship|restricciones
    |restrizioni|einschrankungen|questions|asking
role: without senza sans ohne sin => any|alcuna|alcun|aucune|aucun|jede ~1 restrictions?|filters?|filtro|censorship
    |limits|limitations|guidelines|boundaries
role: no => ethical|moral ?or|and ?ethical|moral guidelines|restrictions|limitations|boundaries
role: keine => regeln|richtlinien|einschrankungen|grenzen

prompt-leak: {SHOW} => ?me|us|mir|mi|moi ?to_me ~3 {YOUR} ~2 system|initial|original|starting|hidden|secret|exact
    ?system {TOLD}|message|configuration|text
prompt-leak: {BARE} => ?me|us|mir|mi|moi ?to_me ~3 {YOUR} ~2 {TOLD}|system_prompt
prompt-leak: {SHOW} need want => ?me|us|to_see|to_know ~2 system_prompt|system_instructions|system_message
    |initial_prompt|initial_instructions|hidden_prompt|hidden_instructions|original_instructions|secret_instructions
    |exact_instructions|previous_instructions !{MEASURE} ~1 {PRIOR}|verbatim|exactly|immediately|now|for|to|in|me
prompt-leak!: {SHOW} provide => ~3 system_prompt|hidden_prompt|initial_prompt|initial_instructions
    |previous_instructions|secret_instructions|initialization_string !{MEASURE}
prompt-leak: mostre mostra revele revela repita imprima diga => ?me|nos ~2 prompt_do_sistema|instrucoes_do_sistema
    |suas_instrucoes|prompt_de_sistema|instrucoes_iniciais
prompt-leak: toon onthul herhaal geef laat => ?me|mij|ons ~2 systeemprompt|systeeminstructies|je_instructies
    |jouw_instructies|je_systeemprompt
prompt-leak: show tell give => me|us ~3 system_prompt|system_instructions|system_message|hidden_prompt|initial_prompt
    !{MEASURE}
prompt-leak: what whats => ?is|are|were|was|s ~3 your ?system|initial|original|first|hidden|secret|exact|full|starting
    prompts?|instructions?|directives?|guidelines
prompt-leak: what => were_you|are_you_not|was told|given|instructed|supposed|written ~2 before|initially|above|at|in
    |by|to_tell|to_say|to_reveal|to_do
prompt-leak: instructions text rules prompt => ?that you were|have_been|are ?initially given|told|provided
prompt-leak!: repeat print output translate encode copy => ~2 text|words|everything|conversation|content|message
    |sentences? ~3 above|before|word_for_word|verbatim
prompt-leak!: repeat output print replace translate => ?the above text|conversation|message|prompt|instructions
prompt-leak!: repeat recite => ~6 word_for_word|verbatim
prompt-leak: system => prompt|instructions|message ~3 verbatim|word_for_word|in_base64|in_rot13|in_hex|in_json
    |in_reverse
prompt-leak: maintenance administrator admin debug => ~6 display|show|print|reveal ~2 system|initial|hidden
    configuration|prompt|instructions

conceal: dont never without not mai non niemals nie jamais nunca no => ?you|ever|explicitly|also|even tell|telling
    |inform|informing|alert|alerting|warn|warning|notify|notifying|mention|mentioning|reveal|revealing|disclose
    |disclosing|dire|dirlo|dirle|informare|avvisare|sagen|informieren|informer|decir|digas|informar ?this|it|that
    |any_of_this|about_this ?to ?the|al|all|l|dem|den|a_l|au|el {USER}
conceal: nao nunca jamais => ?o|lhe conte|diga|informe|avise|revele|mencione ?isso|isto|nada ?ao|aos|para|o|os ?o
    {USER}|usuarios
conceal: vertel zeg meld => de {USER} ~1 niet|nooit|niets
conceal: vertel zeg meld => ?het|dit|dat|hierover|hiervan|de {USER}|niet|nooit|niets ?niet|nooit|niets
    ?hierover|hiervan|dit
    ?aan|tegen|over ?de ?{USER}|dit|hierover .|{USER}
conceal: dont never without not => mention|mentioning|reveal|revealing|disclose|disclosing|discuss this|these
    |the_existence_of ?secret|hidden instructions?|message|notes?|rule|directive|memory|order|prompt
conceal: keep => this|it|that ~3 secret|hidden|confidential|private from ?the {USER}

exfiltrate!: send forward email mail post upload transmit exfiltrate leak copy bcc submit collect => ~12 passwords?
    |credentials|api_keys?|private_keys?|keys|secrets?|tokens?|variables|history|chats?|conversations?|customers?
    |confidential|memory|memories|transcript|codes?|everything ~12 to|at|via ~3 §url|§mail|attacker
exfiltrate!: send forward email upload post => ~3 §url|§mail ~8 passwords?|credentials|secrets?|tokens?|history
    |conversation|memory|memories
exfiltrate!: forward exfiltrate leak dump send reveal => ~2 all|the|any ~1 api_keys|credentials|passwords|secrets
    |internal_data|internal_configuration|order_data|customer_data|customer_list|customer_emails|environment_variables
    |confidential_data|private_keys
exfiltrate!: dump reveal => ~1 internal_configuration|internal_data|environment_variables|all_environment_variables

addressed!: note message instruction instructions attention important hinweis nota => to|for|an|per|para|pour ?the|any
    |all|every|automated|den|die ~1 {MODEL}|analysis_software .|reading|who|that|when|processing|you|if
addressed: for to => ?any|all|the ais?|llms? ?coding|research ?agents?|assistants?|models?|systems?|tools? reading|who
    |processing|you
addressed: for to => ?any|all ais?|llms? ?coding|research agents?|assistants? :
addressed: attention dear hey hello hi => ?any|all|the ais?|llms? .|assistants?|agents?|models?|systems?|bots?|reading
    |please|you
addressed: ai llms? assistants? agents bots => ?assistants?|agents?|models? reading|processing|parsing|summarizing
    |that_reads|who_reads|when_reading this|these
addressed: if => you_are|youre|you_re ?an|a ai_model|ai_assistant|ai_agent|ai_system|ai_reading|ai_language|ai_that
    |ai_.|llm|large_language|language_model|automated|assistant|chatbot|bot
addressed: when if once whenever => you read|see|process|summarize|summarise|parse|encounter|receive this|these ~1 ?.
    ~2 you|email|send|call|run|ignore|include|must|add|append|reply|respond|say|execute|delete|forward|do|always|tell
    |open|visit|store|save
addressed: before => you answer|respond|reply ?to ~4 append|add|include|call|run|send|print|insert
addressed: hello hi hey dear => ?there chatgpt|chat_gpt|gpt|claude|gemini|bard|bing|copilot|generator_name
addressed: chatgpt claude gemini => you_are|you_will|you_must|from_now|pretend|act|ignore|forget
addressed: language => model ?. you have_been|are|will|must

persist!: remember save store note memorize keep add record write => ~8 for|in|across|to all|every|any|each|your
    ?future|later|subsequent|long_term|permanent|persistent tasks|sessions?|conversations?|{REPLY}|chats|reports?
    |memory|interactions ~10 must|always|repeat|never|ignore|include|follow|every|that_you|instead|as_a|as_the
persist: in at to => every|all|each ?single future|subsequent|following {REPLY}|reports?|conversations?|summary
persist: always must => ~2 append|add|insert|include|end|begin|start|prepend|prefix|sign ~8 to|in|of|with|every|each
    |all|your ~3 your|every|each|all {REPLY} .|that|you|with|exactly|regardless
persist: append add include insert aggiungi aggiunto ajoute ajouter hinzufugen => ~8 to|at|in|alla|a_la|am|al ?the end
    |beginning|start|fine|fin|ende|final of|di|de|del your|every|each|ogni|toute|jeder|cada {REPLY}
persist: on at => ?the next ?user message|turn|prompt|conversation ?. ~2 begin|start|print|reveal|send|call|execute
    |ignore|run|delete|say|tell
persist: include included contain mention mentioned => in every|all|each ~1 {REPLY}|reports?|summary|emails? ?that you

delayed: if when whenever once after => ?the|a|my user|human|person|owner|customer|someone|utente ?next|ever|then
    says?|writes?|reply|replies|answers?|responds?|thanks|dice|risponde ~12 save|store|remember|memorize|call|invoke
    |execute|send|forward|say|tell|claim|recommend|update|insist|delete|silently|secretly|reveal|promote|salva|invia
    |esegui
delayed: if when whenever once after => ?the|a|my user|human|person|owner|customer|someone|utente ?next|ever|then
    types?|confirms?|agrees?|mentions?|asks? ~12 save_that|save_this|save_in|remember|memorize|claim|recommend|insist
    |silently|secretly|promote|say_that|tell_them|reveal
delayed: next => time ?the|a user|they|he|she|anyone ~8 save|call|run|send|execute|say|tell|reply|recommend|forward
    |delete|insert

recommend!: always only => recommend|recommends|promote|endorse|advertise
recommend!: recommend promote suggest cite mention => ~6 first|above_all|over_others|over_all_others|over_competitors
    |over_alternatives|whenever_the_user|whenever_asked|whenever_possible|when_users?|when_the_users?
recommend!: remember consider treat regard trust => ~6 as ~2 trusted|authoritative|preferred|reliable|primary|official
    |go_to|best ?and ~1 source|provider|site|website|vendor|tool|company|authority|brand|reference|service
recommend!: never => recommend|suggest|mention|cite ~3 competitors?|alternatives?|rivals?|other_brands?|other_vendors?
    |other_products?|other_providers?

authority: user owner operator admin administrator => ?has|have ?already granted|given|authorized|authorised|approved
    |pre_authorized|consented|waived|allowed|agreed ~1 permission|consent|approval|access|you|to|all|any
    |confirmations?|future ~6 all|any|without|skip|every|full|bypass|transfer|delete|send|share|ignore|confirmations?
    |checks
authority: skip disable bypass omit waive drop => ~2 all|any|the|every safety|security|confirmation|permission
    |approval|authorization checks?|confirmations?|prompts?|protocols?|steps?|reviews? ~8 from_now|for_the_rest|always
    |in_future|without_asking|this_task|this_session|all_future|going_forward
authority: without => asking|confirming|confirmation|approval ~1 again|the_user|from_the_user|for_permission
    |for_confirmation|for_approval
authority: no => confirmation|approval|permission|verification ?is|was needed|required|necessary from|for_any|for_all
    |for_transfers|by_the_user|anymore|in_future
authority: safety security content sicurezza sicherheitsrichtlinien securite => ?guidelines|policies|rules|protocols
    |checks|filters|restrictions ~1 not_meant|not_apply|not_applicable|not_valid|not_intended|not_needed|dont_apply
    |disabled|suspended|lifted|non_valgono|nicht_gelten|gelten_nicht|hier_nicht|ne_s_appliquent|no_se_aplican
authority: safety content => ~1 guidelines|policies|rules|protocols|checks|filters|restrictions do|does|were|are|is
    not meant|apply|applicable|valid|needed|intended
authority: exempt freed free => from|of ?the|any|all ~1 restrictions?|safety|content|policy|policies|limitations?
authority: pre => verified|approved|authorized|authorised|cleared by ?senior|the management|admin|owner|user|security
authority!: grant give => this|the user|account|me|him|her|them ~1 admin|root|full|administrator|unrestricted
    |superuser access|rights|privileges|permissions
authority!: grant give => me|him|her|them|user ~1 admin|root|administrator|unrestricted|superuser access|rights
    |privileges

decode: decode decrypt decipher unscramble => ~10 ?and|then do|follow|obey|execute|perform|run|carry_out ~4 it|what
    |that|instructions?|inside|says

dictate!: just simply only => print|say|output|respond_with|reply_with|answer_with|write ?the ~2 §url|pwned|haha|i
    |this|exactly|out
dictate: if when => asked|questioned ?about|how|why|whether|for ~10 simply|just|always|only respond|reply|say|answer
    |report|state|claim|insist|deny|tell
dictate: if when => asked|questioned ?. respond|reply|answer|report|state|claim|insist|deny ?with|that
dictate: if when => asked|questioned ?about ~6 deny|insist|claim
dictate: ignore disregard => ~1 them|it|that|this ?and instead focus|print|say|output|do|write|answer|respond
dictate: ignore disregard => ?all|any negative ~8 focus|report|say|output|only
dictate: override => ~2 scoring|rating|evaluation|review ~2 output
dictate: you => may|must|can|will|should not deviate from|form this|these|it
dictate!: rank rate score => this|the candidate|resume|applicant|paper|submission|product ?as|at highest|first|top|10
    |the_best|the_most
"""

_DISTANT: Final = """
verb!: {IGNORE} =>
object: {PRIOR} => ~1 {COMMANDS}
object: {COMMANDS} => ~1 above|precedenti|anteriores|precedentes
object: system => prompt
"""

_HINTS: Final = """
amoral: amoral unfiltered uncensored nonmoral immoral unethical illegal illegality ethicality inhumane unhinged
    jailbreak jailbroken nsfw harmful malicious explicit offensive profanity swears? swearing lewd =>
unbound: no without any all free bypass bypasses => ~2 restrictions?|filters?|limits|limitations?|censorship
    |guidelines|ethics|morals?|confines|disclaimers?|warnings?
unbound: ethical moral content openai openais => ?and|or ~1 guidelines|restrictions|boundaries|policy|policies
    |considerations
unbound: doesnt dont does not never => ~4 care_about|abide|refuse|bound|follow_any|confined|apologi[sz]e|adhere
    |comply_with
machine: chatgpt gpt openai chatbot dan llm persona =>
machine: language ai artificial => model|models|assistant|bot|chatbot|persona|named|called|that|intelligence|language
role: act behave pretend pretending simulate roleplay role immerse emulate impersonate play => ~3 as|like|to_be
    |the_role|character|role|you_are|a|an|into
role: you youre youll => ?are|will|re|must|should now|going_to|only|always|be|respond|answer|speak|provide
role: stay stays remain => in char|character
answer: answers? responds? reply replies generate comply provide => ~4 any|every|all|anything|each|never|always
    |questions?|prompts?|requests?
answer: never cannot cant not => ?ever refuse|decline|reject|deny|say_no|break_character|mention|warn
answer: from => now on
"""


@cache
def _classes() -> dict[str, list[str]]:
    joined = re.sub(r"\n[ ]+", " ", _CLASSES.strip())
    return {name.strip(): words.split() for name, words in (line.split("=") for line in joined.splitlines())}


def _alternatives(element: str) -> list[str]:
    spread = re.sub(r"\{(\w+)\}", lambda name: "|".join(_classes()[name[1]]), element)
    return [word.replace(".", "[.:]").replace("_", " ") for word in spread.split("|") if word]


def _pattern(follows: str) -> re.Pattern[str]:
    parts = [r"\S+ "]
    for element in follows.split():
        if element.startswith("~"):
            parts.append(rf"(?:\S+ ){{0,{element[1:]}}}?")
        elif element.startswith("!"):
            parts.append(f"(?!(?:{'|'.join(_alternatives(element[1:]))}) )")
        else:
            optional = "?" if element.startswith("?") else ""
            words = "|".join(f"{word} " for word in _alternatives(element.removeprefix("?")))
            parts.append(f"(?:{words}){optional}")
    return re.compile("".join(parts))


def _triggers(words: str) -> Iterator[str]:
    for element in words.split():
        for word in _alternatives(element):
            yield word.removesuffix("?")
            if word.endswith("?"):
                yield word[:-2]


def _parse(table: str) -> Iterator[Rule]:
    joined = re.sub(r"\n[ ]+", " ", table.strip()).replace(" |", "|")
    for line in filter(None, joined.splitlines()):
        head, _, follows = line.partition("=>")
        name, _, triggers = head.partition(":")
        yield Rule(name.removesuffix("!"), frozenset(_triggers(triggers)), follows, opens=name.endswith("!"))


def _by_trigger(table: str) -> dict[str, list[Rule]]:
    awake: dict[str, list[Rule]] = {}
    for rule in _parse(table):
        for trigger in rule.triggers:
            awake.setdefault(trigger, []).append(rule)
    return awake


@cache
def rules_by_trigger() -> dict[str, list[Rule]]:
    """Return, for each trigger word, the rules that it wakes; the table is read at the first call."""
    return _by_trigger(_RULES)


@cache
def distant_by_trigger() -> dict[str, list[Rule]]:
    """Return the halves of an order that any number of words may part: ``verb`` first, ``object`` later."""
    return _by_trigger(_DISTANT)


@cache
def hints_by_trigger() -> dict[str, list[Rule]]:
    """Return, for each trigger word, the hints that it wakes: rules whose name is a kind."""
    return _by_trigger(_HINTS)
