import { afterEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { headerFaults, loadScripts, parseHeader, parseScript } from '../../../src/store/index.js';

const GOOD = `-- Adds and tells.
--
-- KEYS[1] the counter
-- ARGV[1] how much
-- ARGV[2..] names
--
-- Returns the new value.
for i = 2, #ARGV do redis.call('PUBLISH', ARGV[i], '') end -- KEYS[9] in a comment is none
return redis.call('INCRBY', KEYS[1], ARGV[1])
`;

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function folderOf(files: Record<string, string>): URL {
  const folder = mkdtempSync(join(tmpdir(), 'scripts-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return pathToFileURL(`${folder}/`);
}

describe('parseHeader()', () => {
  it('reads purpose, operands and reply', () => {
    expect(parseHeader('add', GOOD)).toEqual({
      purpose: 'Adds and tells.',
      keys: { count: 1, isOpen: false },
      args: { count: 1, isOpen: true },
      returns: 'the new value.',
    });
  });

  it.each([
    ['no purpose', GOOD.replace('-- Adds and tells.\n', ''), 'what the script does'],
    ['no reply', GOOD.replace('Returns', 'Gives'), 'Returns'],
    ['a gap', GOOD.replace('KEYS[1] the', 'KEYS[2] the'), 'KEYS[2] stands where KEYS[1] is expected'],
    ['something behind an open end', GOOD.replace('-- ARGV[1]', '-- ARGV[1..]'), 'must be the last'],
  ])('refuses %s', (_, source, message) => {
    expect(() => parseHeader('add', source)).toThrow(message);
  });
});

describe('headerFaults()', () => {
  it('finds none where header and code agree, also by way of the prelude', () => {
    expect(headerFaults('add', GOOD)).toEqual([]);
    const byPrelude = '-- Reads.\n-- KEYS[1] the value\n-- Returns it.\nreturn value()';
    expect(headerFaults('read', byPrelude, "local function value() return redis.call('GET', KEYS[1]) end")).toEqual([]);
  });

  it.each([
    ['a key that is not named', GOOD.replace("'INCRBY', KEYS[1]", "'INCRBY', KEYS[1] .. KEYS[2]"), 'uses KEYS[2]'],
    ['a key that is never used', GOOD.replace('KEYS[1], ARGV', "'x', ARGV"), 'names KEYS[1]'],
    ['a computed index', GOOD.replace('ARGV[2..] names', 'no more'), 'reads any number of ARGV'],
    ['an open end that is never read', GOOD.replace(/^for.*$/m, ''), 'reads none'],
  ])('finds %s', (_, source, fault) => {
    expect(headerFaults('add', source).join()).toContain(fault);
  });
});

describe('loadScripts()', () => {
  it('puts the clock and the prelude in front, and knows the digest and the number of keys', () => {
    const folder = folderOf({ 'add.lua': GOOD, 'prelude.lua': '-- PRELUDE', 'note.txt': '' });
    const { add } = loadScripts(folder, ['add']);
    expect(add).toMatchObject({ name: 'add', numberOfKeys: 1, takesMoreKeys: false });
    expect(add.sha1).toMatch(/^[0-9a-f]{40}$/);
    const parts = ["redis.call('TIME')", '-- PRELUDE', '-- Adds'].map((part) => add.source.indexOf(part));
    expect(parts).toEqual(parts.toSorted((a, b) => a - b));
    expect(parts).not.toContain(-1);
  });

  it('puts the parts of a prelude behind it, in the order of their names', () => {
    const parts = { 'prelude.2-b.lua': '-- SECOND', 'prelude.1-a.lua': '-- FIRST', 'prelude.lua': '-- PRELUDE' };
    const { add } = loadScripts(folderOf({ 'add.lua': GOOD, ...parts }), ['add']);
    expect(add.source).toContain('-- PRELUDE\n-- FIRST\n-- SECOND\n-- Adds');
  });

  it('takes the time from a key only where that is asked for', () => {
    expect(parseScript('add', GOOD, { clock: { key: "it's" } }).source).toContain(String.raw`'GET', 'it\'s'`);
    expect(parseScript('add', GOOD).source).not.toContain("'GET'");
    expect(() => parseScript('add', GOOD, { clock: { key: 'a\nb' } })).toThrow('printable');
  });

  it('wants the files and the names to be the same', () => {
    expect(() => loadScripts(folderOf({ 'add.lua': GOOD }), ['add', 'gone'])).toThrow('gone.lua');
    expect(() => loadScripts(folderOf({ 'add.lua': GOOD, 'left.lua': GOOD }), ['add'])).toThrow(
      'nobody loads left.lua',
    );
    expect(() => loadScripts(folderOf({ 'add.lua': `${GOOD}\n--\nlocal x = KEYS[4]` }), ['add'])).toThrow('KEYS[4]');
  });
});

describe('the scripts of src/', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.lua') && !basename(file).startsWith('prelude.'))
    .map((file) => join('src', file));

  it('each says what it takes and does what it says', () => {
    const faults = files.flatMap((file) => {
      const folder = dirname(file);
      const preludes = readdirSync(folder).filter((name) => name.startsWith('prelude.'));
      const prelude = preludes.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
      return headerFaults(basename(file, '.lua'), readFileSync(file, 'utf8'), prelude);
    });
    expect(faults).toEqual([]);
  });
});
