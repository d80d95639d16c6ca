import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import type { Faults } from '../faults.js';
import { nearest } from '../nearest.js';
import { CoordinatorFile } from './coordinator.file.js';
import { keysOf, nestingOf, type Section } from './shape.js';
import { readYaml } from './yaml.reader.js';

type Mapping = Readonly<Record<string, unknown>>;

/**
 * coordinator.yaml as instances of its classes, every fault noted with its path. Whatever was refused is left out, so
 * where there are faults a property may be missing or of another type than its class says.
 */
export function readCoordinatorFile(text: string, path: string, faults: Faults): CoordinatorFile | undefined {
  const content = readYaml(text, path, faults);
  if (content === undefined) return undefined;
  if (!isMapping(content)) {
    faults.add(path, 'must be a mapping with providers, models and tiers');
    return undefined;
  }
  const known = new Cleaner(faults).mapping(withoutExtensions(content), CoordinatorFile, '');
  const file = plainToInstance(CoordinatorFile, known);
  noteErrors(validateSync(file, { whitelist: true, forbidNonWhitelisted: true }), '', faults);
  return file;
}

/** Keys that begin with `x-` at the top are the operator's own: a place for anchors. */
function withoutExtensions(content: Mapping): Mapping {
  return Object.fromEntries(Object.entries(content).filter(([key]) => !key.startsWith('x-')));
}

/**
 * Takes from a mapping what its class knows. class-transformer copies anything: it would follow a cycle, call what `constructor`
 * holds, and drop `__proto__` and `toString` without a word. So it only gets values whose shape is known.
 */
class Cleaner {
  constructor(private readonly faults: Faults) {}

  mapping(found: Mapping, section: Section, path: string): Mapping {
    const known = keysOf(section);
    const kept: [string, unknown][] = [];
    for (const [key, value] of Object.entries(found)) {
      const at = pathOf(path, key);
      if (!known.includes(key)) this.faults.add(at, unknownKey(key, known));
      else if (value !== null) kept.push([key, this.property(value, section, key, at)]);
    }
    return Object.fromEntries(kept.filter(([, value]) => value !== undefined));
  }

  private property(value: unknown, section: Section, key: string, at: string): unknown {
    const nesting = nestingOf(section, key);
    if (nesting === undefined) return this.leaf(value, at);
    if (!nesting.isList) return this.nested(value, nesting.section(), at);
    if (!Array.isArray(value)) {
      this.faults.add(at, 'must be a list');
      return undefined;
    }
    return value.map((item: unknown, index) => this.nested(item, nesting.section(), `${at}[${String(index)}]`) ?? {});
  }

  private nested(value: unknown, section: Section, at: string): Mapping | undefined {
    if (isMapping(value)) return this.mapping(value, section, at);
    this.faults.add(at, 'must be a mapping');
    return undefined;
  }

  /** A single value or a list of single values; explicit `!!timestamp` tags have made a Date. */
  private leaf(value: unknown, at: string): unknown {
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'no date' : value.toISOString();
    if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null)) return value;
    if (typeof value !== 'object') return value;
    this.faults.add(at, 'must not hold mappings or lists of lists');
    return undefined;
  }
}

function unknownKey(key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  return meant === undefined ? `unknown key; known are ${known.join(', ')}` : `unknown key, did you mean ${meant}?`;
}

function noteErrors(errors: readonly ValidationError[], path: string, faults: Faults): void {
  for (const { property, constraints = {}, children = [] } of errors) {
    const at = /^\d+$/.test(property) ? `${path}[${property}]` : pathOf(path, property);
    // What was refused as a whole has no parts to complain about.
    if (faults.has(at)) continue;
    for (const message of Object.values(constraints)) faults.add(at, message);
    noteErrors(children, at, faults);
  }
}

function pathOf(parent: string, key: string): string {
  if (!/^[\w$-]{1,100}$/.test(key)) return `${parent}[${JSON.stringify(key.slice(0, 100))}]`;
  return parent === '' ? key : `${parent}.${key}`;
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
