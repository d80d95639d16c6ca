import { REDACTED, SecretFinder, SPELT } from './secret.finder.js';

const SECRET_FIELDS = [
  'authorization',
  'proxy-authorization',
  'api-key',
  'api_key',
  'apikey',
  'x-api-key',
  'x-goog-api-key',
  'cookie',
  'set-cookie',
  'password',
  'sentinelpassword',
  'secret',
  'client_secret',
  'token',
  'access_token',
  'refresh_token',
  'keysha256',
];

/** Places where a secret stands in running text; what each pattern captures first is kept. */
const SECRET_PATTERNS = [
  // RFC 6750 and RFC 7617 credentials.
  String.raw`\b((?:bearer|basic) +)[\w.~+/=-]{6,}`,
  // A header in a dumped request; a quoted one included, and one whose quotes a log line has escaped.
  String.raw`\b((?:x-|x-goog-)?api-key\\?["']?: *\\?["']?)[^\s"',;\\]+`,
  String.raw`\b(authorization\\?["']?: *\\?["']?)(?!bearer |basic )[^\s"',;<\\]+`,
  // JSON inside a string; in prose, `password: must be …` is a sentence.
  String.raw`\b((?:password|secret|token)\\?["'] *: *\\?["'])[^"'\\]+`,
  // Keys by their makers' prefixes (OpenAI, Anthropic, HolySheep, xAI, Groq; Google's, and its access tokens), and JSON Web Tokens.
  String.raw`\b()(?:sk|pk|rk|hs|xai|gsk)[-_][\w-]{8,}`,
  String.raw`\b()AIza[\w-]{20,}`,
  String.raw`\b()ya29\.[\w.-]{20,}`,
  String.raw`\b()eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]+)?`,
  // `redis://user:password@host`, and `?key=` as Gemini's REST examples have it.
  String.raw`(://)[^\s/?#@"']{1,512}(?=@)`,
  String.raw`([?&](?:api[-_]?key|key|token|access_token|secret|password|sig|signature)=)[^&\s"'#]+`,
];

/** Takes a log line, one JSON object, and gives it back without secrets. */
export type LineRedactor = (line: string) => string;

/**
 * The second line of defence behind errors that carry no request: whatever reaches the log loses the given secrets wherever they
 * stand in a string, the values of fields that are named like secrets, and text that looks like a credential.
 *
 * Most lines hold nothing of the kind and pay for one search. A line that might is parsed, redacted value by value and written
 * anew, so that it stays valid JSON whatever the secret looks like.
 */
export function createLineRedactor(secrets: readonly string[]): LineRedactor {
  const finder = new SecretFinder(secrets);
  const known = finder.linePattern();
  const suspicious = new RegExp([`"(?:${SECRET_FIELDS.join('|')})":`, SPELT, ...SECRET_PATTERNS].join('|'), 'i');
  const patterns = SECRET_PATTERNS.map((pattern) => new RegExp(pattern, 'gi'));
  const redactText = (text: string): string =>
    patterns.reduce((result, pattern) => result.replace(pattern, `$1${REDACTED}`), finder.redact(text));
  return (line) =>
    known.test(line) || suspicious.test(line) ? `${JSON.stringify(redactValue(JSON.parse(line), redactText))}\n` : line;
}

function redactValue(value: unknown, redactText: (text: string) => string): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map((item) => redactValue(item, redactText));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      redactText(name),
      SECRET_FIELDS.includes(name.toLowerCase()) ? REDACTED : redactValue(item, redactText),
    ]),
  );
}
