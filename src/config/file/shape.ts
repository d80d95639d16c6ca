import 'reflect-metadata';
import { Type } from 'class-transformer';
import { IsOptional, ValidateBy, ValidateNested, getMetadataStorage } from 'class-validator';

/** The class of one mapping in the file. */
export interface Section {
  new (): object;
  readonly prototype: object;
}

const NESTING = Symbol('nesting');

/** That a property holds a mapping, or a list of mappings, of another class. */
export class Nesting {
  constructor(
    readonly section: () => Section,
    readonly isList: boolean,
  ) {}
}

/** Says why a present value cannot be used, in words that complete `path: …`; undefined when it can. */
export type Check = (value: unknown) => string | undefined;

/** A value that must be there and pass. A message of a list's item begins with `[index]: `; several stand on lines of their own. */
export function Required(check: Check): PropertyDecorator {
  const refusal = (value: unknown) => (value === undefined ? 'is required' : check(value));
  return ValidateBy({
    name: 'check',
    validator: {
      validate: (value) => refusal(value) === undefined,
      defaultMessage: (found) => refusal(found?.value) ?? '',
    },
  });
}

/** A value that may be missing and else must pass. */
export function Optional(check: Check): PropertyDecorator {
  return together(IsOptional(), Required(check));
}

/** A nested mapping; with its class as the property's initial value it may be missing. */
export function Mapping(section: () => Section): PropertyDecorator {
  return together(
    nesting(new Nesting(section, false)),
    Type(section),
    ValidateNested(),
    Required(() => undefined),
  );
}

/** A nested mapping that may be missing. */
export function OptionalMapping(section: () => Section): PropertyDecorator {
  return together(IsOptional(), Mapping(section));
}

/** A list of mappings, at least `least` of them. */
export function MappingList(section: () => Section, least: 0 | 1): PropertyDecorator {
  const check: Check = (value) =>
    Array.isArray(value) && value.length < least ? 'must have at least one entry' : undefined;
  return together(nesting(new Nesting(section, true)), Type(section), ValidateNested({ each: true }), Required(check));
}

/** What `property` of `section` holds if that is a mapping or a list of mappings. */
export function nestingOf(section: Section, property: string): Nesting | undefined {
  const found: unknown = Reflect.getMetadata(NESTING, section.prototype, property);
  return found instanceof Nesting ? found : undefined;
}

/** The keys that a mapping may have: the decorated properties of its class. */
export function keysOf(section: Section): readonly string[] {
  const metadata = getMetadataStorage().getTargetValidationMetadatas(section, '', false, false);
  return [...new Set(metadata.map(({ propertyName }) => propertyName))];
}

/** An instance's properties as a plain object, which is what settings hold. */
export function plain<T extends object>(instance: T): T {
  return Object.assign({}, instance);
}

function nesting(found: Nesting): PropertyDecorator {
  return (target, property) => {
    Reflect.defineMetadata(NESTING, found, target, property);
  };
}

function together(...decorators: readonly PropertyDecorator[]): PropertyDecorator {
  return (target, property) => {
    for (const decorate of decorators) decorate(target, property);
  };
}
