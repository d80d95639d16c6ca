/** The configuration cannot be used: every fault of the environment and of the file at once, each as `path: what it must be`. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';

  constructor(readonly faults: readonly string[]) {
    super(
      `the configuration has ${faults.length === 1 ? 'a fault' : `${String(faults.length)} faults`}:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
  }
}

/**
 * One value cannot be used. The message completes the sentence `path: …` and never repeats the value: it may be a secret.
 * Thrown by parsers, caught where the path is known.
 */
export class ValueError extends Error {
  override readonly name = 'ValueError';
}

/** Why `parse` refuses, or undefined when it does not. Errors of other classes are not ours to hide. */
export function refusalOf(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (error instanceof ValueError) return error.message;
    throw error;
  }
}
