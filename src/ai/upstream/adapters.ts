import type { ProviderKind } from '../../config/index.js';
import type { ProviderAdapter } from './provider.adapter.js';

/** Injection token of the adapters, by the kind of provider that each speaks to. */
export const ADAPTERS = Symbol('ADAPTERS');

export type Adapters = Readonly<Record<ProviderKind, ProviderAdapter>>;
