import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What no proof depends on, so that committing proofs and prose does not undo them. */
const NOT_PROVEN = [':(exclude)docs', ':(exclude,glob)**/*.md', ':(exclude)*.md'];

/**
 * One suite's record: docs/proof/<suite>.json.
 *
 * @typedef {{ suite: string, commit: string, command: string, startedAt: string, durationSeconds: number, node: string,
 *   passed: number, failed: number, figures: Record<string, unknown> }} ProofRecord
 */

/** Keeps the records of the suites of a project. */
export class ProofRecords {
  /** @param {string} root the project's folder */
  constructor(root) {
    this.root = root;
    this.folder = join(root, 'docs/proof');
  }

  /** The commit that is checked out, with `+changes` where the work tree differs from it. */
  commit() {
    const commit = this.git('rev-parse', 'HEAD').stdout.trim();
    const changes = this.git('status', '--porcelain', '--', '.', ...NOT_PROVEN).stdout.trim();
    return changes === '' ? commit : `${commit}+changes`;
  }

  /** True where the suite passed on sources that are the present ones. */
  isCurrent(suite) {
    const record = this.read(suite);
    if (record === undefined || record.failed > 0 || record.commit.includes('+') || this.commit().includes('+'))
      return false;
    return this.git('diff', '--quiet', record.commit, 'HEAD', '--', '.', ...NOT_PROVEN).status === 0;
  }

  /** @returns {ProofRecord | undefined} */
  read(suite) {
    const path = this.path(suite);
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
  }

  /** @param {ProofRecord} record */
  write(record) {
    mkdirSync(this.folder, { recursive: true });
    writeFileSync(this.path(record.suite), `${JSON.stringify(record, undefined, 2)}\n`);
  }

  path(suite) {
    return join(this.folder, `${suite}.json`);
  }

  git(...words) {
    return spawnSync('git', words, { cwd: this.root, encoding: 'utf8' });
  }
}
