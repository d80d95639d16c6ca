import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's own folder. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A small project in a temporary folder, for tools to be tried on. */
export interface PlantedProject {
  readonly folder: string;
  /** Runs a script of Node in it. */
  run(
    script: string,
    ...args: string[]
  ): Promise<{ readonly code: number | null; readonly output: string; readonly errors: string }>;
  remove(): Promise<void>;
}

/** Writes the files, by path, beside this project's node_modules. */
export async function plantProject(files: Readonly<Record<string, string>>): Promise<PlantedProject> {
  const folder = await mkdtemp(join(tmpdir(), 'planted-'));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return {
    folder,
    run: (script, ...args) => runNode(folder, script, args),
    remove: () => rm(folder, { recursive: true }),
  };
}

async function runNode(
  cwd: string,
  script: string,
  args: readonly string[],
): Promise<{ code: number | null; output: string; errors: string }> {
  const child = spawn(process.execPath, [script, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output, errors };
}
