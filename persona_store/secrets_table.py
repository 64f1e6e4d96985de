"""Credentials that announce themselves by their shape: one row a format, no guess by entropy.

A row is tried only when one of its anchors stands in the text, and every pattern starts at the edge of a
word and gives nothing back, so that a scan is linear. Credentials without a shape of their own ("the password
is …", ``API_KEY=…``) are found by ``persona_store.secret_speech``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from persona_store.patterns import Pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable


class SecretFormat(NamedTuple):
    """One shape of credential."""

    name: str
    """What it is, as rules name it: ``secret.<name>``."""
    anchors: tuple[str, ...]
    """Literals of which at least one stands in every credential of this shape."""
    pattern: Pattern

    @property
    def is_distinct(self) -> bool:
        """Whether an anchor says so much that a token is worth putting together from pieces."""
        return all((len(anchor) > 2 and not anchor.islower()) or anchor[-1:] in "-_" for anchor in self.anchors)


class Secret(NamedTuple):
    """Where a credential stands; its value is not kept."""

    rule: str
    offset: int


def _row(name: str, anchors: str, body: str) -> SecretFormat:
    return SecretFormat(name, tuple(anchors.split()), Pattern(rf"(?<![A-Za-z0-9]){body}"))


_END: Final = r"(?![A-Za-z0-9_-])"
_ALNUM_END: Final = r"(?![A-Za-z0-9])"

FORMATS: Final[tuple[SecretFormat, ...]] = (
    # Model providers
    _row("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{16,}+"),
    _row("openrouter-key", "sk-or-", r"sk-or-[A-Za-z0-9_-]{20,}+"),
    _row(
        "openai-key",
        "sk-",
        r"sk-(?:proj-|svcacct-|admin-|live-|test-)?[A-Za-z0-9](?=[A-Za-z_-]{0,64}[0-9])[A-Za-z0-9_-]{19,}+",
    ),
    _row("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{32,}+"),
    _row("xai-key", "xai-", r"xai-[A-Za-z0-9]{40,}+"),
    _row("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{32,}+"),
    _row("replicate-token", "r8_", r"r8_[A-Za-z0-9]{32,}+"),
    _row("hugging-face-token", "hf_ api_org_", r"(?:hf_|api_org_)[A-Za-z0-9]{30,}+"),
    _row("google-key", "AIza", r"AIza[A-Za-z0-9_-]{35}" + _END),
    _row("langsmith-key", "lsv2_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}" + _ALNUM_END),
    _row("fireworks-key", "fw_", r"fw_[A-Za-z0-9]{24}" + _ALNUM_END),
    _row("tavily-key", "tvly-", r"tvly-[A-Za-z0-9_-]{20,}+"),
    # Clouds
    _row("aws-key-id", "AKIA ASIA ABIA ACCA", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}" + _ALNUM_END),
    _row("google-oauth-secret", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{24,}+"),
    _row("google-oauth-token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,}+"),
    _row("google-refresh-token", "1//0", r"1//0[A-Za-z0-9_-]{35,}+"),
    _row(
        "azure-account-key",
        "AccountKey= SharedAccessKey=",
        r"(?:Account|SharedAccess)Key=[A-Za-z0-9+/]{40,}+={0,2}",
    ),
    _row("azure-client-secret", "Q~", r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}" + _ALNUM_END),
    _row("azure-signature", "sig=", r"sig=[A-Za-z0-9%/+]{40,}+(?:%3D|=){1,2}"),
    _row("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{64}" + _ALNUM_END),
    _row("heroku-key", "HRKU-", r"HRKU-[A-Za-z0-9_-]{30,}+"),
    _row("alibaba-key-id", "LTAI", r"LTAI[A-Za-z0-9]{16,24}" + _ALNUM_END),
    _row("tencent-key-id", "AKID", r"AKID[A-Za-z0-9]{32}" + _ALNUM_END),
    _row("cloudflare-key", "v1.0-", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}+"),
    _row("fly-token", "fo1_ fm1 fm2_", r"(?:fo1_[A-Za-z0-9_-]{40,}+|fm(?:1[ar]|2)_[A-Za-z0-9+/_-]{60,}+)"),
    _row("netlify-token", "nfp_", r"nfp_[A-Za-z0-9_]{36,}+"),
    _row("tailscale-key", "tskey-", r"tskey-[a-z]{2,12}-[A-Za-z0-9-]{20,}+"),
    _row("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-[0-9])?" + _ALNUM_END),
    _row("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}+"),
    _row("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{20,}+"),
    _row("doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{36,}+"),
    _row("onepassword-token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/_=-]{60,}+"),
    _row("pulumi-token", "pul-", r"pul-[a-f0-9]{40}" + _ALNUM_END),
    _row("supabase-token", "sbp_ sb_secret_", r"(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,}+)"),
    _row("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,}+"),
    # Code and packages
    _row("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{20,}+"),
    _row("github-fine-grained-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,}+"),
    _row(
        "gitlab-token",
        "glpat- gldt- glptt- glrt- glsoat- glcbt- glagent- glft- glimt- glffct- gloas-",
        r"gl(?:pat|dt|ptt|rt|soat|cbt|agent|ft|imt|ffct|oas)-[A-Za-z0-9_.=-]{20,}+",
    ),
    _row("bitbucket-token", "ATBB ATCTT", r"(?:ATBB[A-Za-z0-9]{28,}+|ATCTT3[A-Za-z0-9_=-]{40,}+)"),
    _row("atlassian-token", "ATATT3", r"ATATT3[A-Za-z0-9_=+/-]{40,}+"),
    _row("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}" + _ALNUM_END),
    _row("pypi-token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{30,}+"),
    _row("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{48}" + _ALNUM_END),
    _row("cargo-token", "cio", r"cio[A-Za-z0-9]{32}" + _ALNUM_END),
    _row("nuget-key", "oy2", r"oy2[a-z0-9]{43}" + _ALNUM_END),
    _row("clojars-token", "CLOJARS_", r"CLOJARS_[a-z0-9]{60}" + _ALNUM_END),
    _row("docker-token", "dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{24,}+"),
    _row("circleci-token", "CCIPAT_ CCIPRJ_", r"CCIP(?:AT|RJ)_[A-Za-z0-9_]{20,}+"),
    _row("buildkite-token", "bkua_", r"bkua_[a-f0-9]{40}" + _ALNUM_END),
    _row("sonarqube-token", "sqp_ sqa_ squ_", r"sq[pau]_[a-f0-9]{40}" + _ALNUM_END),
    _row("postman-key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}" + _ALNUM_END),
    _row("sourcegraph-token", "sgp_", r"sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}" + _ALNUM_END),
    # Money
    _row(
        "stripe-key",
        "_live_ _test_ whsec_",
        r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{10,}+|whsec_[A-Za-z0-9+/]{24,}+)",
    ),
    _row("square-token", "sq0 EAAA", r"(?:sq0[a-z]{3}-[A-Za-z0-9_-]{22,}+|EAAA[A-Za-z0-9_-]{60})"),
    _row("plaid-token", "access-", r"access-(?:sandbox|development|production)-[a-f0-9]{8}-[a-f0-9-]{27}"),
    _row("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}" + _ALNUM_END),
    _row(
        "braintree-token",
        "access_token$",
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
    ),
    # Messages and mail
    _row("slack-token", "xox xapp- xoxe", r"(?:xox[abeoprs]|xoxe\.xox[bp]|xapp)-[A-Za-z0-9-]{10,}+"),
    _row(
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_/+-]{20,}+",
    ),
    _row(
        "discord-webhook",
        "/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/[A-Za-z0-9_-]{40,}+",
    ),
    _row("discord-token", ".", r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}" + _END),
    _row("telegram-token", ":A", r"[0-9]{8,10}:A[A-Za-z0-9_-]{34}" + _END),
    _row(
        "teams-webhook",
        ".webhook.office.com/",
        r"[a-z0-9-]{1,63}\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/-]{60,}+",
    ),
    _row("twilio-key", "SK AC", r"(?:SK|AC)[a-f0-9]{32}" + _ALNUM_END),
    _row("sendgrid-key", "SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    _row("mailgun-key", "key-", r"key-[a-f0-9]{32}" + _ALNUM_END),
    _row("mailchimp-key", "-us", r"[a-f0-9]{32}-us[0-9]{1,2}" + _ALNUM_END),
    _row("brevo-key", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    _row("facebook-token", "EAA", r"EAA[A-Za-z0-9]{60,}+"),
    # Work
    _row("linear-key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}+"),
    _row("notion-token", "ntn_ secret_", r"(?:ntn_[A-Za-z0-9]{40,}+|secret_[A-Za-z0-9]{43}" + _ALNUM_END + ")"),
    _row("figma-token", "figd_", r"figd_[A-Za-z0-9_-]{36,}+"),
    _row("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}" + _ALNUM_END),
    _row("hubspot-token", "pat-", r"pat-(?:na|eu)[0-9]-[a-f0-9]{8}-[a-f0-9-]{27}"),
    _row("dropbox-token", "sl.", r"sl\.(?:u\.)?[A-Za-z0-9_-]{100,}+"),
    _row("mapbox-token", "sk.eyJ", r"sk\.eyJ[A-Za-z0-9_-]{20,}+\.[A-Za-z0-9_-]{20,}+"),
    _row("adafruit-key", "aio_", r"aio_[A-Za-z0-9]{28}" + _ALNUM_END),
    # Watching
    _row("grafana-token", "glsa_ glc_", r"gl(?:sa|c)_[A-Za-z0-9_+/=]{32,}+"),
    _row("new-relic-key", "NRAK- NRJS- NRAL- NRII-", r"NR(?:AK|JS|AL|II)-[A-Za-z0-9_-]{19,}+"),
    _row("sentry-token", "sntry", r"sntry[su]_[A-Za-z0-9_=+/-]{40,}+"),
    _row("dynatrace-token", "dt0c01.", r"dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}" + _ALNUM_END),
    # Formats of no one vendor
    _row("json-web-token", "eyJ", r"(?<![_-])eyJ[A-Za-z0-9_-]{10,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+"),
    _row("private-key", "PRIVATE", r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    _row(
        "private-key-body",
        "MII MIG MHcCAQEE MC4CAQAwBQYDK2Vw b3BlbnNzaC1rZXktdjE",
        r"(?:MII[A-Za-z0-9+/]{2}[AQgw]IBA[A-D]|MII[A-Za-z0-9+/]{2}DBOBgkqhkiG9w0BBQ|MIG[A-Za-z0-9+/]AgEAM|MHcCAQEE"
        r"|MC4CAQAwBQYDK2Vw|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/]{24}",
    ),
    _row("putty-key", "PuTTY-User-Key-File-", r"PuTTY-User-Key-File-[0-9]"),
    _row("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    _row(
        "url-password",
        "://",
        r"[a-z][a-z0-9+.-]{1,31}://(?P<name>[^\s/:@\"'<>]{0,64}):(?P<value>[^\s/@\"'<>]{3,128})@(?P<host>[\w.\[-]{1,64})",
    ),
    _row("basic-authorization", "Basic basic", r"[Bb]asic\s{1,4}(?P<value>[A-Za-z0-9+/]{16,}+={0,2})(?![\w-])"),
    _row("bearer-token", "Bearer bearer BEARER", r"(?i:bearer)\s{1,4}(?P<value>[A-Za-z0-9._~+/-]{16,}+=*)"),
)

_PLACEHOLDER: Final = Pattern(
    r"\$|\{\{?|%[A-Z_(]|<|\[|x{3,}|X{3,}|\*{2,}|\.{3}|\u2026|(?:your|my|the|some|an?)[-_]|"
    r"(?i:pass(?:word|wd)?|pwd|secret|token|redacted|changeme|placeholder|example|none|null|true|false)$"
)


_ANCHORED: Final = tuple((anchor, at) for at, row in enumerate(FORMATS) for anchor in row.anchors)


def awake(text: str) -> list[SecretFormat]:
    """Return the shapes of which an anchor stands in a text."""
    return [FORMATS[at] for at in dict.fromkeys([at for anchor, at in _ANCHORED if anchor in text])]


def first_secret(text: str, rows: Iterable[SecretFormat] | None = None) -> Secret | None:
    """Return the first credential of a known shape, or None.

    Args:
        text: The text to read.
        rows: The shapes to look for; by default those that are awake.
    """
    found: Secret | None = None
    for name, _, pattern in awake(text) if rows is None else rows:
        for match in pattern.re.finditer(text):
            if (found is None or match.start() < found.offset) and _is_value(match):
                found = Secret(f"secret.{name}", match.start())
                break
    return found


def is_placeholder(value: str) -> bool:
    """Return whether a value stands for a secret instead of being one: ``$TOKEN``, ``<password>``, ``xxxx``."""
    return _PLACEHOLDER.re.match(value) is not None or len(set(value)) <= 3


def _is_value(match: re.Match[str]) -> bool:
    if "value" not in match.re.groupindex:
        return len(set(match[0])) > 6
    value = match["value"]
    if is_placeholder(value):
        return False
    if "host" not in match.re.groupindex:
        return any(c.isdigit() for c in value)
    return not (value == match["name"] and _is_local(match["host"]))


def _is_local(host: str) -> bool:
    """Return whether a host is this machine or a bare name: there a password that repeats the user was shipped."""
    return "." not in host or host.startswith("127.")
