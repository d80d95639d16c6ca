/** A member of parsed YAML, by its path; undefined where it is not there. */
export function at(tree: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((node, step) => {
    if (Array.isArray(node)) return typeof step === 'number' ? (node as readonly unknown[])[step] : undefined;
    return typeof node === 'object' && node !== null ? Reflect.get(node, step) : undefined;
  }, tree);
}

/** The items of a list; none where there is no list. */
export function itemsAt(tree: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const list = at(tree, ...path);
  return Array.isArray(list) ? list : [];
}

/** The members of a map; none where there is no map. */
export function membersAt(
  tree: unknown,
  ...path: readonly (string | number)[]
): readonly (readonly [string, unknown])[] {
  const map = at(tree, ...path);
  return typeof map === 'object' && map !== null && !Array.isArray(map) ? Object.entries(map) : [];
}

/** The text; '' where there is none. */
export function textAt(tree: unknown, ...path: readonly (string | number)[]): string {
  const text = at(tree, ...path);
  return typeof text === 'string' ? text : '';
}

/** The number; NaN where there is none. */
export function numberAt(tree: unknown, ...path: readonly (string | number)[]): number {
  const number = at(tree, ...path);
  return typeof number === 'number' ? number : Number.NaN;
}

/** True where every member of the selector is among the labels; an empty selector selects nothing here. */
export function selects(selector: unknown, labels: unknown): boolean {
  const wanted = membersAt(selector);
  return wanted.length > 0 && wanted.every(([name, value]) => at(labels, name) === value);
}
