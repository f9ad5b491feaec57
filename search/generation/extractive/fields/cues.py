"""What questions ask for in other words than the labels: “Who sent it?” asks for “From”.

Questions of seven languages find labels of these languages, whichever the document is in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]{2}")


@dataclass(frozen=True, slots=True)
class FieldCue:
    """`labels`, without case, are what `words` of a question mean, the best first."""

    words: re.Pattern[str]
    labels: tuple[str, ...]
    value: re.Pattern[str]
    """What a value must have."""

    def suits(self, value: str) -> bool:
        """Tell whether a value is of the kind: a date and a number have digits."""
        return self.value.search(value) is not None

    def rest_of(self, question: str) -> str:
        """Return a question without the words that mean the label."""
        return self.words.sub(" ", question)


def cues_in(question: str) -> Iterator[FieldCue]:
    """Yield the cues that a question has."""
    return (cue for cue in _CUES if cue.words.search(question))


def _cue(words: str, labels: str, value: re.Pattern[str] = _LETTER) -> FieldCue:
    return FieldCue(re.compile(rf"\b(?:{words})(?!\w)", re.IGNORECASE), tuple(labels.split("|")), value)


_CUES = (
    _cue(
        r"who (?:has )?(?:wrote|written)|authors?|wer hat(?=.{0,40}(?:geschrieben|verfasst))|verfasser"
        r"|autor(?:en|es)?|qui a écrit|auteurs?|quién(?:es)? escribi(?:ó|eron)|chi ha scritto|autori"
        r"|wie heeft(?=.{0,40}geschreven)",
        "author|authors|by|written by|autor|autoren|verfasser|auteur|auteurs|autores|autore|autori|auteur",
    ),
    _cue(
        r"who (?:has )?(?:sent|written|wrote|is writing|writes)|(?:is|was) (?:[\w-]+ ){0,4}from\?|senders?"
        r"|from whom|wer hat(?=.{0,40}(?:geschickt|gesendet|geschrieben))|absenders?|von wem"
        r"|qui a (?:envoyé|écrit)|expéditeur|de qui|quién (?:envió|escribió|mandó)|remitente|de quién"
        r"|chi ha (?:inviato|scritto)|mittente|wie heeft(?=.{0,40}(?:gestuurd|geschreven))|afzender"
        r"|quem (?:enviou|escreveu)",
        "from|sender|von|absender|de|expéditeur|remitente|da|mittente|van|afzender|signed",
    ),
    _cue(
        r"to whom|who (?:received|got)|recipients?|addressee|(?:sent|addressed|written) to|an wen"
        r"|empfängers?|à qui|destinataires?|a quién(?:es)?|destinatari[oa]s?|a chi|aan wie|ontvanger"
        r"|para quem",
        "to|recipient|an|empfänger|à|destinataire|para|destinatario|a|destinatário|aan|ontvanger",
    ),
    _cue(
        r"(?:when|on what date|what date) (?:was|were|did|is)(?=.{0,60}\b(?:sent|send|written|write"
        r"|received|arrive))|wann (?:wurde|ist|hat)(?=.{0,60}\b(?:geschickt|gesendet|geschrieben|verschickt"
        r"|abgeschickt|empfangen))|quand(?=.{0,60}\b(?:envoyée?|écrite?|reçue?)(?!\w))"
        r"|cuándo(?=.{0,60}\b(?:envi|escrib|recib|mand))|date|datum|fecha|data",
        "sent|date|datum|gesendet|envoyé|fecha|enviado|data|inviato|verzonden",
        _DIGIT,
    ),
    _cue(
        r"when (?:is|was|does|do|did|will)(?=.{0,60}\b(?:meeting|appointment|event|call|place|start|begin"
        r"|held))|wann(?=.{0,60}\b(?:statt|beginnt|beginnen|treffen|termin|besprechung|sitzung|anfängt"
        r"|fängt))|quand(?=.{0,60}\b(?:lieu|réunion|commence|rendez-vous))|cuándo(?=.{0,60}\b(?:reunión"
        r"|lugar|empieza|cita|celebra))",
        "time|when|start|starts|date|zeit|wann|uhrzeit|beginn|termin|datum|heure|quand|hora|cuándo|fecha|ora",
        _DIGIT,
    ),
    _cue(
        r"where (?:is|was|does|do|did|will)(?=.{0,60}\b(?:meeting|appointment|event|place|held))"
        r"|wo(?=.{0,60}\b(?:statt|treffen|termin|besprechung|sitzung))|où(?=.{0,60}\b(?:lieu|réunion"
        r"|rendez-vous))|dónde(?=.{0,60}\b(?:reunión|lugar|cita|celebra))",
        "location|place|venue|where|room|address|ort|wo|raum|adresse|lieu|où|salle|lugar|dónde|sala|luogo",
    ),
    _cue(
        r"(?:tele)?phone(?: numbers?)?|telefonnummer|telefon|téléphone|teléfono|telefono|telefoon",
        "telephone|phone|phone number|telephone number|tel|tel.|telefon|telefonnummer|téléphone|tél"
        "|teléfono|telefono|telefone|telefoon|mobile|mobil",
        _DIGIT,
    ),
    _cue(
        r"e-?mail(?:[ -]address(?:es)?|-?adressen?)?|adresse (?:e-?mail|électronique)"
        r"|correo(?: electrónico)?",
        "e-mail|email|mail|e-mail address|email address|courriel|correo|correo electrónico",
        re.compile("@"),
    ),
    _cue(
        r"who (?:has )?(?:attended|was present|were present|took part|participated)|attendees|participants?"
        r"|wer (?:war|waren|hat|haben)(?=.{0,40}\b(?:anwesend|dabei|teilgenommen))|teilnehmer|anwesende\w?"
        r"|qui (?:était|étaient|a participé|ont participé)(?=.{0,40}\b(?:présent|réunion))|participants"
        r"|quién(?:es)? (?:asisti|particip)\w*|asistentes|participantes",
        "present|attendees|attended|participants|in attendance|anwesend|anwesende|teilnehmer|teilnehmende"
        "|présents|participants|asistentes|presentes|participantes",
    ),
    _cue(
        r"who (?:was|were) (?:absent|missing|excused)|absentees|wer (?:hat gefehlt|fehlte|war entschuldigt)"
        r"|qui était absente?|quién(?:es)? falt\w+|ausentes",
        "apologies|absent|apologies for absence|excused|entschuldigt|abwesend|absents|excusés|ausentes",
    ),
    _cue(
        r"subject|topic|what (?:is|are) (?:[\w-]+ ){1,4}about|betreff|thema|worum geht|objet|sujet|asunto"
        r"|tema|oggetto|onderwerp|assunto",
        "subject|topic|re|betreff|thema|betrifft|objet|sujet|asunto|tema|oggetto|onderwerp|assunto",
    ),
)
