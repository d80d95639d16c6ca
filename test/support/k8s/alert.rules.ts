import type { Manifests } from './manifests.js';
import { queryFaults, type Served } from './query.rules.js';
import { itemsAt, textAt } from './tree.js';

export function alertsIn(manifests: Manifests): readonly unknown[] {
  return manifests
    .of('PrometheusRule')
    .flatMap(({ tree }) => itemsAt(tree, 'spec', 'groups'))
    .flatMap((group) => itemsAt(group, 'rules'));
}

/** What is wrong with an alert's query, and with the labels that its summary shows. */
export function alertFaults(alert: unknown, served: Served): readonly string[] {
  const shown = [...textAt(alert, 'annotations', 'summary').matchAll(/\$labels\.(\w+)/g)].map(
    ([, label = '']) => label,
  );
  return queryFaults(textAt(alert, 'expr'), shown, served).map((fault) => `${textAt(alert, 'alert')}: ${fault}`);
}
