import { modelAt, openTiers, providerAt } from './config-file.js';
import { TEST_MODELS } from './simulator.js';

/**
 * So many models, each at a provider with a key of its own, all at one address: what becomes of one is not held against another.
 */
export function separateModels(count: number, more: object = {}) {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const names = numbers.map((number) => `model-${String(number)}`);
  const unused = names.values();
  return {
    /** As the simulator plays them. */
    simulated: names.flatMap((name) => TEST_MODELS.slice(0, 1).map((model) => ({ ...model, name, aliases: [] }))),
    file: (url: string): object => ({
      providers: numbers.map((number) => providerAt(`p${String(number)}`, url)),
      models: names.map((name, index) => modelAt(`p${String(index + 1)}`, name, more)),
      tiers: openTiers(names),
    }),
    environment: Object.fromEntries(
      numbers.map((number) => [`P${String(number)}_KEY`, `upstream-key-${String(number)}-x`]),
    ),
    /** One that nothing has happened to yet. @throws RangeError when all are used */
    next: (): string => {
      const { value } = unused.next();
      if (value === undefined) throw new RangeError(`more than ${String(count)} models are needed`);
      return value;
    },
  };
}
