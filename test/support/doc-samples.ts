import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from './planted-project.js';

/** The TypeScript of a page, as files that can be compiled and loaded. */
export class DocSamples implements AsyncDisposable {
  private constructor(
    private readonly folder: string,
    readonly files: readonly string[],
  ) {}

  /** @param page from the project's folder @param heading only what stands under it; default: all */
  static async of(page: string, heading = ''): Promise<DocSamples> {
    const text = await readFile(join(ROOT, page), 'utf8');
    const start = text.indexOf(heading);
    if (start === -1) throw new Error(`${page} has no "${heading}"`);
    const end = heading === '' ? -1 : text.indexOf('\n## ', start + heading.length);
    const section = text.slice(start, end === -1 ? undefined : end);
    const samples = [...section.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, sample = '']) => sample);
    // In a folder of its own, as deep below the project's as a module's is.
    const folder = join(ROOT, 'test-results', `samples-${page.replaceAll(/\W+/g, '-')}`);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    const files = samples.map((_, index) => join(folder, `sample${String(index + 1)}.ts`));
    for (const [index, file] of files.entries()) {
      await writeFile(file, (samples[index] ?? '').replaceAll("'../lock/index.js'", "'../../src/lock/index.js'"));
    }
    return new DocSamples(folder, files);
  }

  /** What the compiler says of them, by the project's own rules; empty: nothing. */
  faults(): readonly string[] {
    const read = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path));
    const { options } = ts.parseJsonConfigFileContent(read.config, ts.sys, ROOT);
    const program = ts.createProgram([...this.files], { ...options, noEmit: true });
    return ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  }

  /** What the sample exports. */
  async load(number: number): Promise<Readonly<Record<string, unknown>>> {
    const file = this.files[number - 1];
    if (file === undefined) throw new Error(`there is no sample ${String(number)}`);
    return (await import(file)) as Record<string, unknown>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
