/** One environment variable: what the README says about it and how its text becomes a value. */
export interface EnvironmentVariable<T = unknown> {
  readonly name: string;
  /** For operators, Markdown. */
  readonly description: string;
  /** In the words an operator would use; undefined: it is simply not set. */
  readonly default?: string;
  /** Its text is never repeated in messages and logs, and may come from the file that `<NAME>_FILE` names. */
  readonly isSecret: boolean;
  /** @throws ValueError */
  readonly parse: (text: string) => T;
}

/** A variable that always has a value. */
export interface DefaultedVariable<T> extends EnvironmentVariable<T> {
  readonly default: string;
}

type Parse<T> = (text: string) => T;

/** A variable that always has a value. */
export function withDefault<T>(
  name: string,
  initial: string,
  description: string,
  parse: Parse<T>,
): DefaultedVariable<T> {
  return { name, description, default: initial, isSecret: false, parse };
}

/** A variable that may be missing. */
export function optional<T>(name: string, description: string, parse: Parse<T>): EnvironmentVariable<T> {
  return { name, description, isSecret: false, parse };
}

/** A variable that may be missing and must never be shown. */
export function secret<T>(name: string, description: string, parse: Parse<T>): EnvironmentVariable<T> {
  return { name, description, isSecret: true, parse };
}
