import { describe, expect, it } from '@jest/globals';
import { hashKey } from '../../../src/config/index.js';
import { caller, faultsOf, faultsOfFile, fileWith, load, loadFile, NOW } from './sources.js';

const ISSUER = 'https://login.example.com/';
const issuer = (changes: object = {}): object => ({
  issuer: ISSUER,
  jwksUrl: 'https://login.example.com/jwks',
  audience: ['ai'],
  caller: 'app',
  ...changes,
});
const withIssuers = (...issuers: object[]): object => fileWith({ callers: [caller()], issuers });

describe('issuers', () => {
  it('are none where the file names none', () => {
    expect(loadFile(fileWith()).issuers).toEqual([]);
  });

  it('have safe defaults', () => {
    expect(loadFile(withIssuers(issuer())).issuers).toEqual([
      {
        issuer: ISSUER,
        jwksUrl: 'https://login.example.com/jwks',
        allowPrivate: false,
        audience: ['ai'],
        algorithms: ['RS256', 'ES256'],
        types: ['jwt', 'at+jwt'],
        clockSkewMs: 30_000,
        caller: 'app',
        subjects: [],
      },
    ]);
  });

  it('may have their keys in a private network, but at no metadata service', () => {
    expect(loadFile(withIssuers(issuer({ allowPrivate: true }))).issuers[0]?.allowPrivate).toBe(true);
    expect(() => loadFile(withIssuers(issuer({ jwksUrl: 'https://169.254.169.254/jwks' })))).toThrow(
      'issuers[0].jwksUrl: must not be a link-local, metadata or reserved address',
    );
  });

  it('say what subjects and claims mean', () => {
    const more = {
      algorithms: ['EdDSA'],
      types: ['at+jwt'],
      clockSkewMs: '5s',
      maxAgeMs: '1h',
      subjects: [{ subject: 'u1', caller: 'app' }],
      tiers: { claim: 'plan', values: [{ value: 'gold', tier: 'enterprise' }] },
      scopes: { claim: 'scope', values: [{ value: 'ai:admin', scope: 'admin' }] },
    };
    expect(loadFile(withIssuers(issuer(more))).issuers).toMatchObject([
      {
        ...more,
        clockSkewMs: 5_000,
        maxAgeMs: 3_600_000,
        tiers: { claim: 'plan', values: [{ value: 'gold', meaning: 'enterprise' }] },
        scopes: { claim: 'scope', values: [{ value: 'ai:admin', meaning: 'admin' }] },
      },
    ]);
  });

  it('may speak for a caller without keys, which nobody else may be', () => {
    const keyless = { name: 'web', tier: 'pro' };
    const file = fileWith({ callers: [keyless], issuers: [issuer({ caller: 'web' })] });
    expect(loadFile(file).callers).toMatchObject([{ name: 'web', keys: [] }]);
    expect(loadFile(file).server.loopbackHostsOnly).toBe(false);
    expect(faultsOfFile(fileWith({ callers: [keyless] }))).toEqual([
      'callers[0].keySha256: is required: a caller has a key, keys, or an issuer that names it',
    ]);
  });

  it('may speak for a caller of CALLER_KEYS', () => {
    const environment = { CALLER_KEYS: 'web:pro:0123456789abcdef' };
    expect(loadFile(fileWith({ issuers: [issuer({ caller: 'web' })] }), environment).issuers).toHaveLength(1);
  });

  it.each([
    [{ issuer: undefined }, 'issuers[0].issuer: is required'],
    [{ audience: undefined }, 'issuers[0].audience: is required'],
    [{ audience: [] }, 'issuers[0].audience: must have at least one entry'],
    [
      { jwksUrl: 'http://login.example.com/jwks' },
      'issuers[0].jwksUrl: must be an https URL (http only on this machine)',
    ],
    [{ jwksUrl: 'file:///etc/passwd' }, 'issuers[0].jwksUrl: must be an https URL (http only on this machine)'],
    [{ jwksUrl: 'https://u:p@a.example/jwks' }, 'issuers[0].jwksUrl: must hold no user, no password and no #'],
    [{ clockSkewMs: '1h' }, 'issuers[0].clockSkewMs: must be a duration from 0ms to 5m'],
    [{ caller: 'ap' }, 'issuers[0].caller: there is no caller "ap", did you mean app?'],
    [
      { caller: undefined },
      'issuers[0].caller: is required: who the bearers of its tokens are, or subjects with a caller each',
    ],
    [
      { subjects: [{ subject: 'u', caller: 'apps' }] },
      'issuers[0].subjects[0].caller: there is no caller "apps", did you mean app?',
    ],
    [
      {
        subjects: [
          { subject: 'u', caller: 'app' },
          { subject: 'u', caller: 'app' },
        ],
      },
      'issuers[0].subjects[1].subject: stands above already',
    ],
    [{ scope: 'x' }, 'issuers[0].scope: unknown key, did you mean scopes?'],
    [{ tiers: { claim: 'plan', values: [] } }, 'issuers[0].tiers.values: must have at least one entry'],
  ])('refuse %j', (changes, fault) => {
    const entries = Object.entries(issuer(changes)).filter(([, value]) => value !== undefined);
    expect(faultsOfFile(withIssuers(Object.fromEntries(entries)))).toEqual([fault]);
  });

  it.each(['HS256', 'none', 'rs256', 'RSA-OAEP'])('take no tokens signed by %s', (algorithm) => {
    const [fault] = faultsOfFile(withIssuers(issuer({ algorithms: ['RS256', algorithm] })));
    expect(fault).toMatch(/^issuers\[0\]\.algorithms\[1\]: must be one of RS256, /);
  });

  it.each(['http://127.0.0.1:8080/jwks', 'http://[::1]/jwks', 'http://localhost/jwks'])('may be at %s', (jwksUrl) => {
    expect(loadFile(withIssuers(issuer({ jwksUrl }))).issuers).toMatchObject([{ jwksUrl }]);
  });

  it('stand once each', () => {
    expect(faultsOfFile(withIssuers(issuer(), issuer()))).toEqual(['issuers[1].issuer: is taken by issuers[0].issuer']);
  });
});

describe('the keys of a caller', () => {
  const [one, two] = ['ab'.repeat(32), 'cd'.repeat(32)];

  it('are several, with times', () => {
    const keys = [{ sha256: two, notBefore: '2026-12-01', expires: '2027-12-01T09:00:00Z' }];
    expect(loadFile(fileWith({ callers: [caller({ keys })] })).callers).toMatchObject([
      {
        keys: [
          { sha256: one },
          { sha256: two, notBefore: Date.parse('2026-12-01'), expires: Date.parse('2027-12-01T09:00:00Z') },
        ],
      },
    ]);
  });

  it.each([
    [{ sha256: 'sk-S3CR3T' }, 'callers[0].keys[0].sha256: must be the SHA-256 of the key: 64 hex digits, in quotes'],
    [{}, 'callers[0].keys[0].sha256: is required'],
    [{ sha256: one }, 'callers[0].keys[0].sha256: this key is the key of callers[0].keySha256 already'],
    [
      { sha256: two, expires: 'soon' },
      'callers[0].keys[0].expires: must be a date such as 2027-01-14 or 2027-01-14T09:00:00Z',
    ],
    [
      { sha256: two, notBefore: '2027-01-02', expires: '2027-01-02' },
      'callers[0].keys[0].expires: must be later than notBefore',
    ],
  ])('refuse %j', (key, fault) => {
    expect(faultsOfFile(fileWith({ callers: [caller({ keys: [key] })] }))).toEqual([fault]);
  });

  it('are a notice when they end soon or have ended, never a fault', () => {
    const at = (days: number): string => new Date(NOW + days * 86_400_000).toISOString();
    const keys = [13, 15, -1].map((days, index) => ({ sha256: `${String(index)}f`.repeat(32), expires: at(days) }));
    const about = loadFile(fileWith({ callers: [caller({ keys })] })).notices.filter((line) =>
      line.startsWith('callers'),
    );
    expect(about).toEqual([
      `callers[0].keys[0].sha256: this key of app ends at ${at(13)}`,
      `callers[0].keys[2].sha256: this key of app ended at ${at(-1)}`,
    ]);
  });

  it('are two where CALLER_KEYS has a name twice with one tier', () => {
    const [first, second] = ['0123456789abcdef-old', '0123456789abcdef-new'];
    expect(load({ environment: { CALLER_KEYS: `web:pro:${first},web:pro:${second}` } }).callers).toMatchObject([
      { name: 'web', keys: [{ sha256: hashKey(first) }, { sha256: hashKey(second) }] },
    ]);
    expect(faultsOf({ environment: { CALLER_KEYS: `web:pro:${first},web:pro:${first}` } })).toEqual([
      'CALLER_KEYS[1]: this key is the key of CALLER_KEYS[0] already',
    ]);
  });
});

describe('the origins of a caller', () => {
  const origins = ['https://app.example.com'];

  it('are answered in preflights beside CORS_ORIGINS', () => {
    const file = fileWith({ callers: [caller({ origins })] });
    expect(loadFile(file).server.corsOrigins).toEqual(origins);
    expect(loadFile(file, { CORS_ORIGINS: 'https://b.example' }).server.corsOrigins).toEqual([
      'https://b.example',
      ...origins,
    ]);
    expect(loadFile(file, { CORS_ORIGINS: '*' }).server.corsOrigins).toEqual(['*']);
  });

  it.each(['*', 'null', 'app.example.com', 'https://app.example.com/', 'https://*.example.com'])(
    'are not %s',
    (origin) => {
      expect(faultsOfFile(fileWith({ callers: [caller({ origins: [origin] })] }))).toEqual([
        'callers[0].origins[0]: must be an origin such as https://app.example.com, without a path',
      ]);
    },
  );
});
