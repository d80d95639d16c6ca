import { createHash, randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';

const USAGE = `Makes a key for a caller and prints it once, with its line for coordinator.yaml or CALLER_KEYS.

  npm run key:new -- <name> [--tier free|pro|enterprise] [--admin] [--expires 90d|2027-03-01]

  --tier     which models it may use; default: enterprise
  --admin    it may also see and release locks, and see /v1/status; only in coordinator.yaml
  --expires  the key counts until then; only in coordinator.yaml
`;

const TIERS = ['free', 'pro', 'enterprise'];
const DAY_MS = 86_400_000;

try {
  console.log(answerTo(process.argv.slice(2), Date.now()));
} catch (error) {
  if (!(error instanceof Error)) throw error;
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 1;
}

/**
 * @param {readonly string[]} words
 * @param {number} now
 */
function answerTo(words, now) {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      tier: { type: 'string', default: 'enterprise' },
      admin: { type: 'boolean', default: false },
      expires: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return USAGE;
  const [name, ...others] = positionals;
  if (name === undefined || others.length > 0) throw new Error('one name is needed');
  if (!/^[A-Za-z0-9][\w.@-]{0,63}$/.test(name) || name.toLowerCase() === 'anonymous')
    throw new Error('the name must be up to 64 letters, digits and . _ @ -, other than anonymous');
  if (!TIERS.includes(values.tier)) throw new Error(`--tier must be one of ${TIERS.join(', ')}`);
  const expires = values.expires === undefined ? undefined : instantOf(values.expires, now);
  return linesFor({ name, tier: values.tier, isAdmin: values.admin, expires });
}

/** @param {{ name: string, tier: string, isAdmin: boolean, expires: string | undefined }} caller */
function linesFor({ name, tier, isAdmin, expires }) {
  // 256 bits; the prefix is what secret scanners, and our own log, know keys by.
  const key = `sk-coord-${randomBytes(32).toString('base64url')}`;
  const sha256 = createHash('sha256').update(key).digest('hex');
  const keyLine = `{ sha256: "${sha256}"${expires === undefined ? '' : `, expires: ${expires}`} }`;
  const scopes = isAdmin ? ', scopes: [chat, admin]' : '';
  const plain = [
    '',
    '# or in the environment, besides what is there; the same name twice is a caller with two keys:',
    `CALLER_KEYS=${name}:${tier}:${key}`,
  ];
  return [
    '# the key, for the caller; it is not kept anywhere:',
    key,
    '',
    '# coordinator.yaml, under callers:',
    `  - { name: "${name}", tier: ${tier}${scopes}, keys: [${keyLine}] }`,
    '',
    '# or, where the caller is there already, under its keys: as one more, until nobody uses the old one:',
    `      - ${keyLine}`,
    ...(isAdmin || expires !== undefined ? [] : plain),
  ].join('\n');
}

/**
 * @param {string} text
 * @param {number} now
 */
function instantOf(text, now) {
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const instant = days === undefined ? Date.parse(text) : now + Number(days) * DAY_MS;
  if (Number.isNaN(instant) || instant <= now)
    throw new Error('--expires must be a number of days such as 90d, or a date to come');
  return `${new Date(instant).toISOString().slice(0, 19)}Z`;
}
