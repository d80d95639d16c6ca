import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files beside src/ that a build's result depends on. */
const SETTINGS = ['nest-cli.json', 'package-lock.json', 'tsconfig.build.json', 'tsconfig.json'];

/**
 * One hash over everything that a build reads, names and contents. Times would lie: a clone, a checkout or a copied image sets
 * them anew, and a deleted file has none.
 *
 * @param {string} root the project's folder
 * @returns {string | undefined} undefined where there are no sources, as in the image
 */
export function hashSources(root) {
  if (!existsSync(join(root, 'src'))) return undefined;
  const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const settings = SETTINGS.map((name) => join(root, name)).filter((path) => existsSync(path));
  const hash = createHash('sha256');
  for (const path of [...sources, ...settings].sort()) {
    hash
      .update(`${path.slice(root.length)}\0`)
      .update(readFileSync(path))
      .update('\0');
  }
  return hash.digest('hex');
}
