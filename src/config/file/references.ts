import { TIERS } from '../caller.settings.js';
import type { Faults } from '../faults.js';
import { nearest } from '../nearest.js';
import type { CoordinatorFile } from './coordinator.file.js';

/** A name and where it stands. */
interface Mention {
  readonly path: string;
  readonly name: string;
}

/** A mapping of which nothing is certain: other faults may have been noted in it. */
type Entry = Readonly<Record<string, unknown>>;

/** Notes names that point nowhere, are given twice, or point to what they stand in. The file may have other faults. */
export function checkReferences(file: CoordinatorFile, faults: Faults): void {
  const models = entriesOf(file.models);
  const names = namesIn(models, 'models');
  const aliases = models.flatMap((model, index) => textsIn(model['aliases'], `models[${String(index)}].aliases`));
  const providers = namesIn(entriesOf(file.providers), 'providers');
  // Names that were refused cannot be found: who mentions them is not to blame.
  const known = { names: isIntact(names, models.length, faults) ? names : undefined, aliases };
  const knownProviders = isIntact(providers, entriesOf(file.providers).length, faults) ? providers : undefined;
  checkUnique([...names, ...aliases], faults);
  checkUnique(providers, faults);
  const tiers = entriesOf([file.tiers]).flatMap((tier) => TIERS.map((name) => textsIn(tier[name], `tiers.${name}`)));
  for (const tier of tiers) {
    checkModelNames(tier, known, faults);
    checkUnique(tier, faults, 'is named already by');
  }
  models.forEach((model, index) => {
    const path = `models[${String(index)}]`;
    const fallbacks = textsIn(model['fallbacks'], `${path}.fallbacks`);
    checkModelNames(fallbacks, known, faults);
    checkModel(model, path, faults);
    checkDeployments(
      entriesOf(model['deployments']),
      { path: `${path}.deployments`, providers: knownProviders },
      faults,
    );
    checkUnique(fallbacks, faults, 'is named already by');
    for (const { path: at, name } of fallbacks) {
      if (name === model['name']) faults.add(at, 'a model cannot be its own fallback');
    }
  });
}

function checkModelNames(
  mentions: readonly Mention[],
  known: { readonly names: readonly Mention[] | undefined; readonly aliases: readonly Mention[] },
  faults: Faults,
): void {
  if (known.names === undefined) return;
  const names = known.names.map(({ name }) => name);
  const aliases = known.aliases.map(({ name }) => name);
  for (const { path, name } of mentions) {
    if (names.includes(name)) continue;
    faults.add(
      path,
      aliases.includes(name) ? `${quoted(name)} is an alias: write the model's name` : unknown('model', name, names),
    );
  }
}

function checkModel({ contextWindow, maxOutputTokens, separateInputLimit }: Entry, path: string, faults: Faults): void {
  const isTooMuch =
    typeof contextWindow === 'number' && typeof maxOutputTokens === 'number' && maxOutputTokens > contextWindow;
  if (isTooMuch && contextWindow > 0 && separateInputLimit !== true) {
    faults.add(`${path}.maxOutputTokens`, 'must be at most contextWindow, which holds input and output together');
  }
}

function checkDeployments(
  deployments: readonly Entry[],
  known: { path: string; providers: readonly Mention[] | undefined },
  faults: Faults,
): void {
  const providers = known.providers?.map(({ name }) => name);
  const seen = new Set<string>();
  deployments.forEach(({ provider, model }, index) => {
    const at = `${known.path}[${String(index)}]`;
    if (typeof provider !== 'string') return;
    if (providers?.includes(provider) === false) faults.add(`${at}.provider`, unknown('provider', provider, providers));
    const id = JSON.stringify([provider, model]);
    if (seen.has(id)) faults.add(at, 'the same model of the same provider stands above already');
    seen.add(id);
  });
}

/** True when every one of the entries has a name that was not refused. */
function isIntact(names: readonly Mention[], entries: number, faults: Faults): boolean {
  return names.length === entries && names.every(({ path }) => !faults.has(path));
}

function checkUnique(mentions: readonly Mention[], faults: Faults, by = 'is taken by'): void {
  const first = new Map<string, string>();
  for (const { path, name } of mentions) {
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, path);
    else faults.add(path, `${quoted(name)} ${by} ${earlier}`);
  }
}

/** What to say of a name that points nowhere. */
export function unknown(what: string, name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return `there is no ${what} ${quoted(name)}${meant === undefined ? `; known are ${known.join(', ')}` : `, did you mean ${meant}?`}`;
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}

function namesIn(entries: readonly Entry[], path: string): readonly Mention[] {
  return entries.flatMap(({ name }, index) =>
    typeof name === 'string' ? [{ path: `${path}[${String(index)}].name`, name }] : [],
  );
}

function textsIn(value: unknown, path: string): readonly Mention[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  return items.flatMap((name, index) =>
    typeof name === 'string' ? [{ path: `${path}[${String(index)}]`, name }] : [],
  );
}

/** The mappings of a list, in their places; what is no mapping counts as an empty one. */
function entriesOf(value: unknown): readonly Entry[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  return items.map((item) => (typeof item === 'object' && item !== null ? { ...item } : {}));
}
