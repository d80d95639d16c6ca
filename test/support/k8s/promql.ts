import { parser } from '@prometheus-io/lezer-promql';

/** `label="value"`, or with another operator. */
export interface Matcher {
  readonly label: string;
  /** `=`, `!=`, `=~` or `!~` */
  readonly operator: string;
  readonly value: string;
}

/** What an expression names. */
export interface Query {
  /** Where it is no PromQL: what stands there. */
  readonly errors: readonly string[];
  readonly selectors: readonly { readonly metric: string; readonly matchers: readonly Matcher[] }[];
  /** The labels that aggregations keep; undefined where nothing is aggregated by labels. */
  readonly kept: readonly string[] | undefined;
  /** Those that vectors are matched by. */
  readonly joined: readonly string[];
}

type Node = ReturnType<typeof parser.parse>['topNode'];

/** Reads an expression by Prometheus' own grammar. */
export function parsePromql(expression: string): Query {
  const { topNode } = parser.parse(expression);
  const text = ({ from, to }: Node): string => expression.slice(from, to);
  const labelsOf = (kind: string): readonly string[] =>
    nodesOf(topNode, kind)
      .flatMap((node) => nodesOf(node, 'GroupingLabels'))
      .flatMap((node) => nodesOf(node, 'LabelName'))
      .map(text);
  const kept = labelsOf('AggregateModifier');
  return {
    errors: nodesOf(topNode, '⚠').map(({ from }) => `no PromQL from ${JSON.stringify(expression.slice(from))}`),
    selectors: nodesOf(topNode, 'VectorSelector').map((selector) => ({
      metric: nodesOf(selector, 'Identifier').map(text).join(),
      matchers: nodesOf(selector, 'UnquotedLabelMatcher').map((matcher) => ({
        label: nodesOf(matcher, 'LabelName').map(text).join(),
        operator: nodesOf(matcher, 'MatchOp').map(text).join(),
        value: nodesOf(matcher, 'StringLiteral').map(text).join().slice(1, -1),
      })),
    })),
    kept: kept.length > 0 ? kept : undefined,
    joined: labelsOf('MatchingModifierClause'),
  };
}

/** All of a kind, below a node. */
function nodesOf(top: Node, kind: string): readonly Node[] {
  const found: Node[] = [];
  top.cursor().iterate(({ name, node }) => {
    if (name === kind) found.push(node);
  });
  return found;
}
