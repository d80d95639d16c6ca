import type { CallerSettings, ClaimSettings, IssuerSettings } from './caller.settings.js';
import { parseDuration } from './duration.js';
import type { Faults } from './faults.js';
import { LONGEST_SKEW_MS, LONGEST_TOKEN_AGE_MS, type IssuerFile } from './file/issuer.file.js';
import { unknown } from './file/references.js';

/** Whose tokens are taken: each issuer once, and every one of them somebody's. The section must be without faults. */
export function issuerSettings(
  files: readonly IssuerFile[],
  callers: readonly CallerSettings[],
  faults: Faults,
): readonly IssuerSettings[] {
  const names = callers.map(({ name }) => name);
  const seen = new Map<string, string>();
  return files.map((file, index) => {
    const path = `issuers[${String(index)}]`;
    const earlier = seen.get(file.issuer);
    if (earlier === undefined) seen.set(file.issuer, `${path}.issuer`);
    else faults.add(`${path}.issuer`, `is taken by ${earlier}`);
    checkCallers(file, path, { names, faults });
    return fromFile(file);
  });
}

/** The callers that tokens may speak for. */
export function callersNamedBy(files: readonly IssuerFile[]): ReadonlySet<string> {
  return new Set(
    files.flatMap(({ caller, subjects }) => [
      ...(caller === undefined ? [] : [caller]),
      ...subjects.map((subject) => subject.caller),
    ]),
  );
}

function checkCallers(
  { caller, subjects }: IssuerFile,
  path: string,
  { names, faults }: { readonly names: readonly string[]; readonly faults: Faults },
): void {
  if (caller === undefined && subjects.length === 0)
    faults.add(`${path}.caller`, 'is required: who the bearers of its tokens are, or subjects with a caller each');
  if (caller !== undefined && !names.includes(caller)) faults.add(`${path}.caller`, unknown('caller', caller, names));
  const seen = new Set<string>();
  subjects.forEach(({ subject, caller: name }, index) => {
    const at = `${path}.subjects[${String(index)}]`;
    if (!names.includes(name)) faults.add(`${at}.caller`, unknown('caller', name, names));
    if (seen.has(subject)) faults.add(`${at}.subject`, 'stands above already');
    seen.add(subject);
  });
}

function fromFile({
  clockSkewMs,
  maxAgeMs,
  types,
  tiers,
  scopes,
  caller,
  subjects,
  ...file
}: IssuerFile): IssuerSettings {
  return {
    ...file,
    types: types.map((type) => type.toLowerCase()),
    clockSkewMs: parseDuration(clockSkewMs, 0, LONGEST_SKEW_MS),
    ...(maxAgeMs !== undefined && { maxAgeMs: parseDuration(maxAgeMs, 0, LONGEST_TOKEN_AGE_MS) }),
    ...(caller !== undefined && { caller }),
    subjects: subjects.map((each) => ({ subject: each.subject, caller: each.caller })),
    ...(tiers !== undefined && { tiers: claimOf(tiers.claim, tiers.values, ({ tier }) => tier) }),
    ...(scopes !== undefined && { scopes: claimOf(scopes.claim, scopes.values, ({ scope }) => scope) }),
  };
}

function claimOf<V extends { readonly value: string }, T>(
  claim: string,
  values: readonly V[],
  meaningOf: (value: V) => T,
): ClaimSettings<T> {
  return { claim, values: values.map((each) => ({ value: each.value, meaning: meaningOf(each) })) };
}
