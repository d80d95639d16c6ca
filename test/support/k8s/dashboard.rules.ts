import type { Manifests } from './manifests.js';
import { unless } from './manifests.js';
import { metricsIn, queryFaults, type Served } from './query.rules.js';
import { at, itemsAt, membersAt, numberAt, textAt } from './tree.js';

/** What the sidecar of Grafana takes for a dashboard. */
const LABEL = 'grafana_dashboard';
/** Of Grafana 10.0. */
const OLDEST_SCHEMA = 38;
const COLUMNS = 24;
/** Of Grafana's units, by their ids. */
const UNITS = ['short', 's', 'bytes', 'percentunit', 'reqps', 'currencyUSD'];
const TYPES = ['timeseries', 'stat', 'state-timeline'];
/** Grafana's own variable, and a text that stands in its place. */
const INTERVAL = ['$__rate_interval', '5m'] as const;

/** The dashboards among the manifests, as their JSON. @throws SyntaxError */
export function dashboardsIn(manifests: Manifests): readonly unknown[] {
  return manifests
    .of('ConfigMap')
    .filter(({ tree }) => textAt(tree, 'metadata', 'labels', LABEL) === '1')
    .flatMap(({ tree }) => membersAt(tree, 'data').map(([, text]): unknown => JSON.parse(String(text))));
}

/** Its panels but for the rows. */
export function panelsOf(dashboard: unknown): readonly unknown[] {
  return itemsAt(dashboard, 'panels').filter((panel) => textAt(panel, 'type') !== 'row');
}

export function shownMetrics(dashboard: unknown): ReadonlySet<string> {
  return new Set(
    panelsOf(dashboard).flatMap((panel) =>
      itemsAt(panel, 'targets').flatMap((target) => metricsIn(expressionOf(target))),
    ),
  );
}

/** Everything that is wrong with a dashboard. */
export function dashboardFaults(dashboard: unknown, served: Served): readonly string[] {
  const ids = itemsAt(dashboard, 'panels').map((panel) => numberAt(panel, 'id'));
  return [
    ...unless(numberAt(dashboard, 'schemaVersion') >= OLDEST_SCHEMA, 'it is older than Grafana 10'),
    ...unless(/^[\w-]{1,40}$/.test(textAt(dashboard, 'uid')), 'it has no address of its own'),
    ...unless(new Set(ids).size === ids.length && ids.every(Number.isInteger), 'panels have the same id'),
    ...overlaps(itemsAt(dashboard, 'panels')),
    ...itemsAt(dashboard, 'templating', 'list').flatMap((variable) => variableFaults(variable, served)),
    ...panelsOf(dashboard).flatMap((panel) =>
      panelFaults(panel, dashboard, served).map((fault) => `${textAt(panel, 'title')}: ${fault}`),
    ),
  ];
}

function panelFaults(panel: unknown, dashboard: unknown, served: Served): readonly string[] {
  const targets = itemsAt(panel, 'targets');
  const type = textAt(panel, 'type');
  const unit = textAt(panel, 'fieldConfig', 'defaults', 'unit');
  const references = targets.map((target) => textAt(target, 'refId'));
  return [
    ...unless(TYPES.includes(type), `there is no panel of type ${type}`),
    ...unless(type === 'state-timeline' || UNITS.includes(unit), `there is no unit ${unit}`),
    ...unless(textAt(panel, 'description') !== '', 'it does not say what to make of it'),
    ...unless(
      targets.length > 0 && new Set(references).size === targets.length,
      'its queries have no names of their own',
    ),
    ...[panel, ...targets].flatMap((each) =>
      unless(textAt(each, 'datasource', 'uid') === '${datasource}', 'it asks another datasource than the chosen one'),
    ),
    ...targets.flatMap((target) => targetFaults(target, dashboard, served)),
  ];
}

function targetFaults(target: unknown, dashboard: unknown, served: Served): readonly string[] {
  const shown = [...textAt(target, 'legendFormat').matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
  const known = itemsAt(dashboard, 'templating', 'list').map((variable) => textAt(variable, 'name'));
  const used = [...expressionOf(target).matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name);
  return [
    ...used.filter((name) => !known.includes(name)).map((name) => `there is no variable ${name}`),
    ...queryFaults(expressionOf(target), shown, served),
  ];
}

function expressionOf(target: unknown): string {
  return textAt(target, 'expr').replaceAll(...INTERVAL);
}

/** `label_values(<selector>, <label>)` of what is served. */
function variableFaults(variable: unknown, served: Served): readonly string[] {
  const name = textAt(variable, 'name');
  if (textAt(variable, 'type') === 'datasource') return [];
  const [, selector = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(textAt(variable, 'query')) ?? [];
  return queryFaults(selector, [label], served).map((fault) => `variable ${name}: ${fault}`);
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

function overlaps(panels: readonly unknown[]): readonly string[] {
  const places = panels.map((panel) => ({
    title: textAt(panel, 'title'),
    ...placeOf(at(panel, 'gridPos')),
  }));
  return places.flatMap((place, index) => [
    ...unless(
      place.x >= 0 && place.w > 0 && place.h > 0 && place.x + place.w <= COLUMNS,
      `${place.title} is out of the page`,
    ),
    ...places
      .slice(index + 1)
      .flatMap((other) => unless(areApart(place, other), `${place.title} covers ${other.title}`)),
  ]);
}

function placeOf(tree: unknown): Place {
  return { x: numberAt(tree, 'x'), y: numberAt(tree, 'y'), w: numberAt(tree, 'w'), h: numberAt(tree, 'h') };
}

function areApart(one: Place, other: Place): boolean {
  return (
    one.x + one.w <= other.x || other.x + other.w <= one.x || one.y + one.h <= other.y || other.y + other.h <= one.y
  );
}
