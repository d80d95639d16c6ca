import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../planted-project.js';
import { at, itemsAt, membersAt, textAt } from './tree.js';

export const OVERLAYS: readonly string[] = readdirSync(join(ROOT, 'k8s/overlays'));

/** What `kubectl apply -k k8s/overlays/<overlay>` applies, as it is committed. */
export function renderedText(overlay: string): string {
  return readFileSync(join(ROOT, 'k8s/rendered', `${overlay}.yaml`), 'utf8');
}

/** One object of a cluster. */
export interface Manifest {
  readonly kind: string;
  readonly name: string;
  readonly tree: unknown;
}

/** A pod that something makes. */
export interface PodTemplate {
  /** What makes it. */
  readonly owner: Manifest;
  readonly labels: unknown;
  readonly spec: unknown;
}

/** All that is applied together. */
export class Manifests {
  readonly all: readonly Manifest[];
  readonly pods: readonly PodTemplate[];

  /** @param text YAML documents @throws YAMLParseError */
  constructor(text: string) {
    this.all = parseAllDocuments(text).map((document) => {
      if (document.errors[0] !== undefined) throw document.errors[0];
      const tree: unknown = document.toJS();
      return { kind: textAt(tree, 'kind'), name: textAt(tree, 'metadata', 'name'), tree };
    });
    this.pods = this.all
      .filter(({ tree }) => at(tree, 'spec', 'template', 'spec') !== undefined)
      .map((owner) => ({
        owner,
        labels: at(owner.tree, 'spec', 'template', 'metadata', 'labels'),
        spec: at(owner.tree, 'spec', 'template', 'spec'),
      }));
  }

  of(kind: string): readonly Manifest[] {
    return this.all.filter((manifest) => manifest.kind === kind);
  }

  named(kind: string, name: string): Manifest | undefined {
    return this.of(kind).find((manifest) => manifest.name === name);
  }

  /** The deployment of the server itself. @throws Error where there is none */
  get server(): Manifest {
    const server = this.named('Deployment', 'coordinator');
    if (server === undefined) throw new Error('there is no deployment of the coordinator');
    return server;
  }

  /** The server's environment, as its ConfigMap gives it. */
  get environment(): Readonly<Record<string, string>> {
    const reference = textAt(
      containersOf(at(this.server.tree, 'spec', 'template', 'spec'))[0],
      'envFrom',
      0,
      'configMapRef',
      'name',
    );
    const data = membersAt(this.named('ConfigMap', reference)?.tree, 'data');
    return Object.fromEntries(data.map(([name, value]) => [name, String(value)]));
  }
}

export function containersOf(podSpec: unknown): readonly unknown[] {
  return [...itemsAt(podSpec, 'initContainers'), ...itemsAt(podSpec, 'containers')];
}

/** A rule that manifests must keep. */
export interface Rule {
  /** The name that a linter of Kubernetes manifests has for it, or one of ours. */
  readonly id: string;
  /** @returns what breaks it */
  readonly find: (manifests: Manifests) => readonly string[];
}

/** Every rule for pods is one for each of them. */
export function podRule(id: string, find: (pod: PodTemplate, manifests: Manifests) => readonly string[]): Rule {
  return {
    id,
    find: (manifests) =>
      manifests.pods.flatMap((pod) =>
        find(pod, manifests).map((fault) => `${pod.owner.kind} ${pod.owner.name}: ${fault}`),
      ),
  };
}

/** … and every one for containers. */
export function containerRule(id: string, find: (container: unknown, pod: PodTemplate) => readonly string[]): Rule {
  return podRule(id, (pod) =>
    containersOf(pod.spec).flatMap((container) =>
      find(container, pod).map((fault) => `container ${textAt(container, 'name')}: ${fault}`),
    ),
  );
}

/** `fault` where something is not so. */
export function unless(isSo: boolean, fault: string): readonly string[] {
  return isSo ? [] : [fault];
}
