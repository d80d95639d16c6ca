const UNITS: Readonly<Record<string, number>> = {
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
};

/** A Kubernetes quantity as a number: bytes, or cores; NaN where it is none. */
export function quantity(text: unknown): number {
  const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?)(m|k|M|G|Ki|Mi|Gi)?$/.exec(String(text)) ?? [];
  return digits === '' ? Number.NaN : Number(digits) * (UNITS[unit] ?? Number.NaN);
}
