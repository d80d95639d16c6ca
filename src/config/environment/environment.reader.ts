import { ValueError } from '../configuration-error.js';
import type { Faults } from '../faults.js';
import { readText, type ReadFile } from '../read-text.js';
import type { DefaultedVariable, EnvironmentVariable } from './variable.js';

/** The environment as given, read-only. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads variables as the tables describe them, notes faults by the variable's name, and knows `<NAME>_FILE`. */
export class EnvironmentReader {
  constructor(
    private readonly environment: Environment,
    private readonly readFile: ReadFile,
    private readonly faults: Faults,
  ) {}

  /** True when the variable, or its file, is set to more than blanks: container tools pass unset variables as empty ones. */
  isSet(name: string): boolean {
    return this.plain(name) !== undefined || this.plain(`${name}_FILE`) !== undefined;
  }

  /** The text without blanks around it; undefined: not set. */
  plain(name: string): string | undefined {
    const text = (Object.hasOwn(this.environment, name) ? this.environment[name] : undefined)?.trim();
    return text === '' ? undefined : text;
  }

  /** The secret's text, from the variable or from the file that `<NAME>_FILE` names; a fault when both are set. */
  secret(name: string): string | undefined {
    const path = this.plain(`${name}_FILE`);
    if (path === undefined) return this.plain(name);
    if (this.plain(name) !== undefined) {
      this.faults.add(`${name}_FILE`, `must not be set together with ${name}`);
      return undefined;
    }
    return this.faults.parse(`${name}_FILE`, () => {
      const text = readText(this.readFile, path).replace(/(?<![\r\n])[\r\n]+$/, '');
      if (text.trim() === '') throw new ValueError(`must name a file that holds the secret: ${path} is empty`);
      return text;
    });
  }

  /** The parsed value, else the parsed default; where there is no default, undefined. */
  value<T>(variable: DefaultedVariable<T>): T;
  value<T>(variable: EnvironmentVariable<T>): T | undefined;
  value<T>(variable: EnvironmentVariable<T>): T | undefined {
    const text = variable.isSecret ? this.secret(variable.name) : this.plain(variable.name);
    const value = text === undefined ? undefined : this.faults.parse(variable.name, () => variable.parse(text));
    return value === undefined && variable.default !== undefined ? variable.parse(variable.default) : value;
  }
}
