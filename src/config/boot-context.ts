import type { EnvironmentReader } from './environment/environment.reader.js';
import type { Faults } from './faults.js';
import type { ReadFile } from './read-text.js';

/** What the rules of boot look at and write to. */
export interface BootContext {
  readonly reader: EnvironmentReader;
  readonly readFile: ReadFile;
  readonly faults: Faults;
  /** What an operator must see, in the order of writing. */
  readonly notices: string[];
  readonly isProduction: boolean;
  /** Unix milliseconds. */
  readonly now: number;
}
