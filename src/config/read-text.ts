import { ValueError } from './configuration-error.js';

/** Reads a text file as UTF-8; throws an error with Node's `code` when it cannot. */
export type ReadFile = (path: string) => string;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
};

/**
 * The file's text without a byte order mark.
 *
 * @throws ValueError with the reason when it cannot be read
 */
export function readText(readFile: ReadFile, path: string): string {
  try {
    return readFile(path).replace(/^\uFEFF/, '');
  } catch (error) {
    const code = codeOf(error);
    throw new ValueError(`cannot read ${path}: ${REASONS[code] ?? code}`, { cause: error });
  }
}

/** Like {@link readText}, but undefined when there is no such file. */
export function readTextIfThere(readFile: ReadFile, path: string): string | undefined {
  try {
    return readText(readFile, path);
  } catch (error) {
    if (error instanceof ValueError && codeOf(error.cause) === 'ENOENT') return undefined;
    throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'it is unreadable';
}
