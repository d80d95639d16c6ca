import { podRule, unless, type Manifests, type Rule } from './manifests.js';
import { at, itemsAt, membersAt, selects, textAt } from './tree.js';

/** Who may talk to whom. */
export const NETWORK_RULES: readonly Rule[] = [
  { id: 'default-deny', find: defaultDeny },
  podRule('pod-networkpolicy', ({ labels }, manifests) => {
    const kinds = manifests
      .of('NetworkPolicy')
      .filter(({ tree }) => selects(at(tree, 'spec', 'podSelector', 'matchLabels'), labels))
      .flatMap(({ tree }) => itemsAt(tree, 'spec', 'policyTypes'));
    return ['Ingress', 'Egress'].flatMap((kind) => unless(kinds.includes(kind), `no policy says its ${kind}`));
  }),
  { id: 'no-open-door', find: openDoors },
  { id: 'C-0052-metadata-api', find: metadataService },
  { id: 'dns', find: names },
];

function defaultDeny(manifests: Manifests): readonly string[] {
  const denies = manifests.of('NetworkPolicy').some(({ tree }) => {
    const spec = at(tree, 'spec');
    const kinds = itemsAt(spec, 'policyTypes');
    const isForAll = at(spec, 'podSelector') !== undefined && membersAt(spec, 'podSelector').length === 0;
    const allowsNothing = itemsAt(spec, 'ingress').length + itemsAt(spec, 'egress').length === 0;
    return isForAll && allowsNothing && kinds.includes('Ingress') && kinds.includes('Egress');
  });
  return unless(denies, 'what no policy speaks of is allowed');
}

/** A rule without `from`, `to` or `ports` is one for everybody and everything. */
function openDoors(manifests: Manifests): readonly string[] {
  const directions = [
    ['ingress', 'from'],
    ['egress', 'to'],
  ] as const;
  return manifests.of('NetworkPolicy').flatMap(({ name, tree }) =>
    directions.flatMap(([direction, peers]) =>
      itemsAt(tree, 'spec', direction).flatMap((rule) => {
        const found = itemsAt(rule, peers);
        const isOpen = found.length === 0 || itemsAt(rule, 'ports').length === 0 || found.some(isAnybody);
        return unless(!isOpen, `${name}: an ${direction} rule is open to all`);
      }),
    ),
  );
}

function isAnybody(peer: unknown): boolean {
  const namespace = at(peer, 'namespaceSelector');
  return at(peer, 'ipBlock') === undefined && namespace !== undefined && membersAt(namespace).length === 0;
}

const FORBIDDEN = ['10.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16', '127.0.0.0/8'];

function metadataService(manifests: Manifests): readonly string[] {
  const blocks = manifests
    .of('NetworkPolicy')
    .flatMap(({ tree }) =>
      itemsAt(tree, 'spec', 'egress').flatMap((rule) => itemsAt(rule, 'to').map((peer) => at(peer, 'ipBlock'))),
    );
  return blocks
    .filter((block) => textAt(block, 'cidr') === '0.0.0.0/0')
    .flatMap((block) =>
      FORBIDDEN.flatMap((range) => unless(itemsAt(block, 'except').includes(range), `${range} can be reached`)),
    );
}

function names(manifests: Manifests): readonly string[] {
  const ports = manifests
    .of('NetworkPolicy')
    .flatMap(({ tree }) =>
      itemsAt(tree, 'spec', 'egress').flatMap((rule) =>
        itemsAt(rule, 'ports').filter((port) => at(port, 'port') === 53),
      ),
    );
  return ['UDP', 'TCP'].flatMap((protocol) =>
    unless(
      ports.some((port) => textAt(port, 'protocol') === protocol),
      `no names by ${protocol}`,
    ),
  );
}
