/** Makes Grafana's model of a dashboard from a list of panels: k8s/components/dashboard. */

/** Of Grafana 10.0; newer ones migrate it as they load it. */
const SCHEMA_VERSION = 38;
const COLUMNS = 24;
const SIZES = { stat: { w: 3, h: 4 }, state: { w: 8, h: 7 }, timeseries: { w: 8, h: 7 } };
const TYPES = { state: 'state-timeline' };
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
/** What `$where` stands for. Whoever has no such labels is in `.*` as well. */
const WHERE = 'namespace=~"$namespace",pod=~"$pod"';
const PERCENTILES = { P50: 0.5, P95: 0.95, P99: 0.99 };

/** @param {{uid: string, title: string, rows: readonly {title: string, panels: readonly object[]}[]}} source @returns {string} JSON, a panel a line */
export function dashboardText({ uid, title, rows }) {
  const panels = numbered(rows.flatMap((row) => [rowOf(row), ...row.panels.map(panelOf)]));
  const head = {
    uid,
    title,
    tags: ['ai-api-coordinator'],
    schemaVersion: SCHEMA_VERSION,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    templating: { list: VARIABLES },
  };
  const members = Object.entries(head).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},`);
  const lines = panels.map((panel) => `    ${JSON.stringify(panel)}`);
  return ['{', ...members, '  "panels": [', lines.join(',\n'), '  ]', '}', ''].join('\n');
}

const VARIABLES = [
  { type: 'datasource', name: 'datasource', label: 'Prometheus', query: 'prometheus' },
  variable('namespace', 'label_values(coordinator_draining, namespace)'),
  variable('pod', 'label_values(coordinator_draining{namespace=~"$namespace"}, pod)'),
  variable('model', 'label_values(coordinator_completions_total{namespace=~"$namespace"}, model)'),
];

function variable(name, query) {
  const all = { includeAll: true, multi: true, allValue: '.*', current: { text: 'All', value: '$__all' } };
  return { type: 'query', name, query, datasource: DATASOURCE, refresh: 2, sort: 1, ...all };
}

/** Each with its number, from left to right and from top to bottom. */
function numbered(panels) {
  let [x, y, lineHeight] = [0, 0, 0];
  return panels.map(({ w, h, ...panel }, index) => {
    if (x + w > COLUMNS || panel.type === 'row') [x, y, lineHeight] = [0, y + lineHeight, 0];
    const gridPos = { x, y, w, h };
    [x, lineHeight] = [x + w, Math.max(lineHeight, h)];
    return { id: index + 1, ...panel, gridPos };
  });
}

function rowOf({ title }) {
  return { type: 'row', title, collapsed: false, panels: [], w: COLUMNS, h: 1 };
}

function panelOf({ title, help, kind = 'timeseries', unit, red, queries, percentiles }) {
  const lines = Object.entries(queries ?? quantilesOf(percentiles));
  return {
    ...SIZES[kind],
    type: TYPES[kind] ?? kind,
    title,
    description: help,
    datasource: DATASOURCE,
    fieldConfig: { defaults: { ...(unit && { unit }), min: 0, ...LOOKS[kind](red) }, overrides: [] },
    options: OPTIONS[kind],
    targets: lines.map(([legend, expression], index) => targetOf(kind, legend, { expression, index })),
  };
}

function quantilesOf(rate) {
  const of = (quantile) => `histogram_quantile(${quantile}, sum by (le) (${rate}))`;
  return Object.fromEntries(Object.entries(PERCENTILES).map(([legend, quantile]) => [legend, of(quantile)]));
}

function targetOf(kind, legend, { expression, index }) {
  return {
    refId: String.fromCharCode('A'.charCodeAt(0) + index),
    datasource: DATASOURCE,
    expr: expression.trim().replace(/\s+/g, ' ').replaceAll('$where', WHERE),
    legendFormat: legend,
    ...(kind === 'stat' ? { instant: true, range: false } : { range: true }),
  };
}

const LOOKS = {
  stat: (red) => ({ color: { mode: 'thresholds' }, thresholds: redFrom(red) }),
  state: () => ({ max: 1, color: { mode: 'thresholds' }, thresholds: redFrom(1) }),
  timeseries: () => ({ color: { mode: 'palette-classic' }, custom: { fillOpacity: 10, showPoints: 'never' } }),
};

function redFrom(value) {
  const steps = [{ color: 'green', value: null }, ...(value === undefined ? [] : [{ color: 'red', value }])];
  return { mode: 'absolute', steps };
}

const OPTIONS = {
  stat: { reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false }, graphMode: 'none', colorMode: 'value' },
  state: { showValue: 'never', mergeValues: true, legend: { showLegend: false }, rowHeight: 0.8 },
  timeseries: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
};
