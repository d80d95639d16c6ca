import { describe, expect, it } from '@jest/globals';
import 'reflect-metadata';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { containersOf, Manifests, OVERLAYS, renderedText } from '../../support/k8s/manifests.js';
import { faultsIn } from '../../support/k8s/rules.js';
import { schemaFaults } from '../../support/k8s/schema.faults.js';
import { packageVersion } from '../../support/k8s/server.rules.js';
import { at, itemsAt, membersAt, textAt } from '../../support/k8s/tree.js';
import { ROOT } from '../../support/planted-project.js';

const overlays = new Map(OVERLAYS.map((overlay) => [overlay, new Manifests(renderedText(overlay))]));

describe('k8s/rendered', () => {
  it('is there for every overlay of the README', () => {
    expect([...overlays.keys()].sort()).toEqual(['cluster', 'dev', 'external', 'external-monitored', 'sentinel']);
  });

  it("keeps to Kubernetes' own schema", () => {
    const faults = schemaFaults(new Map([...overlays].map(([name, { all }]) => [name, all])));
    expect(Object.fromEntries(faults)).toEqual(Object.fromEntries(OVERLAYS.map((overlay) => [overlay, []])));
  });

  it.each([...overlays])('breaks no rule: %s', (_, manifests) => {
    expect(faultsIn(manifests)).toEqual([]);
  });

  it.each([...overlays])('runs the image of this version: %s', (_, { server }) => {
    const [container] = containersOf(at(server.tree, 'spec', 'template', 'spec'));
    expect(textAt(container, 'image').split(':').at(-1)).toBe(packageVersion());
    expect(textAt(server.tree, 'metadata', 'labels', 'app.kubernetes.io/version')).toBe(packageVersion());
  });

  it('runs three pods unless an autoscaler does', () => {
    const replicas = [...overlays].map(([name, { server }]) => [name, at(server.tree, 'spec', 'replicas')]);
    expect(Object.fromEntries(replicas)).toMatchObject({
      dev: 3,
      sentinel: 3,
      external: undefined,
      cluster: undefined,
    });
  });
});

describe('k8s/secret.example.yaml', () => {
  const example: unknown = parse(readFileSync(join(ROOT, 'k8s/secret.example.yaml'), 'utf8'));

  it('has what the pods read, under the name that they mount, and no value', () => {
    const { environment, server } = new Manifests(renderedText('external'));
    const files = Object.entries(environment).flatMap(([name, path]) =>
      name.endsWith('_FILE') && name !== 'CONFIG_FILE' ? [basename(path)] : [],
    );
    const data = membersAt(example, 'stringData');
    expect(data.map(([name]) => name).sort()).toEqual(files.sort());
    expect(data.filter(([, value]) => !/^<.+>$/.test(String(value)))).toEqual([]);
    const mounted = itemsAt(server.tree, 'spec', 'template', 'spec', 'volumes').map((volume) =>
      textAt(volume, 'secret', 'secretName'),
    );
    expect(mounted).toContain(textAt(example, 'metadata', 'name'));
  });
});

/** The first whose kustomize (5.0) renders components and `labels` as the committed files were. */
const OLDEST_KUBECTL = 27;

function kubectlMinor(): number | undefined {
  const { status, stdout } = spawnSync('kubectl', ['version', '--client', '--output=json'], { encoding: 'utf8' });
  const version: unknown = status === 0 ? JSON.parse(stdout) : undefined;
  return version === undefined ? undefined : Number.parseInt(textAt(version, 'clientVersion', 'minor'), 10);
}

describe('kubectl kustomize', () => {
  // Not everybody has kubectl; what it renders is committed and judged above all the same.
  const minor = kubectlMinor() ?? 0;
  const renders =
    minor >= OLDEST_KUBECTL
      ? 'renders what is committed'
      : `is not compared: kubectl 1.${String(OLDEST_KUBECTL)} is not here`;

  it(renders, () => {
    if (minor < OLDEST_KUBECTL) return;
    const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/render-manifests.mjs'), '--check'], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
