import { modelAt, openTiers, providerAt } from './config-file.js';
import { TEST_MODELS } from './simulator.js';

export interface SeparateOptions {
  /** What every model's entry adds. */
  readonly model?: object;
  /** What every provider's entry adds. */
  readonly provider?: object;
  /** Of the provider of that number. */
  readonly key?: (number: number) => string;
}

const ownKey = (number: number): string => `upstream-key-${String(number)}-x`;

/**
 * So many models, each at a provider with a key of its own, all at one address: what becomes of one is not held against another.
 */
export function separateModels(count: number, { model = {}, provider = {}, key = ownKey }: SeparateOptions = {}) {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const names = numbers.map((number) => `model-${String(number)}`);
  const unused = names.values();
  return {
    /** As the simulator plays them. */
    simulated: names.flatMap((name) => TEST_MODELS.slice(0, 1).map((like) => ({ ...like, name, aliases: [] }))),
    /** The file, with others beside them. */
    file: (url: string, providers: readonly object[] = [], models: readonly object[] = []): object => ({
      providers: numbers.map((number) => providerAt(`p${String(number)}`, url, provider)).concat(providers),
      models: names.map((name, index) => modelAt(`p${String(index + 1)}`, name, model)).concat(models),
      tiers: openTiers([...names, ...models.map(nameOf)]),
    }),
    environment: Object.fromEntries(numbers.map((number) => [`P${String(number)}_KEY`, key(number)])),
    /** One that nothing has happened to yet. @throws RangeError when all are used */
    next: (): string => {
      const { value } = unused.next();
      if (value === undefined) throw new RangeError(`more than ${String(count)} models are needed`);
      return value;
    },
  };
}

function nameOf(model: object): string {
  return 'name' in model && typeof model.name === 'string' ? model.name : '';
}
