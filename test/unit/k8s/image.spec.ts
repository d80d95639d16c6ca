import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ENVIRONMENT_TABLE } from '../../../src/config/index.js';
import {
  dockerfileFaults,
  environmentOf,
  parseDockerfile,
  shippedStage,
  textsOf,
} from '../../support/k8s/dockerfile.js';
import { containersOf, Manifests, renderedText } from '../../support/k8s/manifests.js';
import { packageVersion } from '../../support/k8s/server.rules.js';
import { at, itemsAt, membersAt, textAt } from '../../support/k8s/tree.js';
import { ROOT } from '../../support/planted-project.js';

const TEXT = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
const dockerfile = parseDockerfile(TEXT);

const FAULTS: readonly (readonly [fault: string, text: string, instead: string])[] = [
  ['the base has no digest', '@sha256:', '@sha25:'],
  ['a stage has another base', 'FROM ${NODE_IMAGE} AS runtime', 'FROM node:latest AS runtime'],
  ['the command goes through a shell or npm', 'CMD ["node", "--enable-source-maps", "dist/main.js"]', 'CMD npm start'],
  ['something stands between the platform and node', 'STOPSIGNAL SIGTERM', 'ENTRYPOINT ["sh"]'],
  ['its user is root, or no number', 'USER 10001:10001', 'USER node'],
  ['what is shipped installs something', 'EXPOSE 8080', 'RUN apt-get install -y curl'],
  ['it ships development packages', 'npm ci --omit=dev', 'npm ci'],
  ['it ships development packages', '--from=dependencies', '--from=build'],
  ['it has no health check', 'HEALTHCHECK', 'LABEL health'],
  ['it is reached from nowhere', 'HOST=0.0.0.0', 'HOST=127.0.0.1'],
  ['load balancers have no time to notice', 'DRAIN_DELAY_MS=5000', 'DRAIN_DELAY_MS=0'],
  ['it is no production', 'NODE_ENV=production', 'NODE_ENV=development'],
  ['its heap has no bound', '--max-old-space-size=672', '--trace-warnings'],
];

describe('Dockerfile', () => {
  it('makes an image without faults', () => {
    expect(dockerfileFaults(dockerfile)).toEqual([]);
  });

  it.each(FAULTS)('would be found to have this fault: %s', (fault, text, instead) => {
    expect(TEXT).toContain(text);
    expect(dockerfileFaults(parseDockerfile(TEXT.replace(text, instead)))).toContain(fault);
  });

  it('copies only what is there and what .dockerignore lets through', () => {
    const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
    const allowed = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    const copied = dockerfile.stages
      .flatMap((stage) => textsOf(stage, 'COPY'))
      .filter((text) => !text.startsWith('--from='))
      .flatMap((text) => text.split(/\s+/).slice(0, -1));
    expect(ignored).toContain('*');
    expect(copied.filter((path) => !existsSync(join(ROOT, path)) || !allowed.includes(path))).toEqual([]);
    expect(allowed.filter((path) => !copied.includes(path))).toEqual([]);
  });

  it('sets only variables of the server, of Node and of the shell', () => {
    const known = ['NODE_OPTIONS', 'HOME', ...ENVIRONMENT_TABLE.map(({ name }) => name)];
    expect([...environmentOf(shippedStage(dockerfile)).keys()].filter((name) => !known.includes(name))).toEqual([]);
  });

  it('runs as the user of the manifests, with their heap', () => {
    const { server, environment } = new Manifests(renderedText('external'));
    const context = at(server.tree, 'spec', 'template', 'spec', 'securityContext');
    expect(textsOf(shippedStage(dockerfile), 'USER')).toEqual([
      `${String(at(context, 'runAsUser'))}:${String(at(context, 'runAsGroup'))}`,
    ]);
    expect(environmentOf(shippedStage(dockerfile)).get('NODE_OPTIONS')).toBe(environment['NODE_OPTIONS']);
  });
});

describe('compose.yaml', () => {
  const compose: unknown = parse(readFileSync(join(ROOT, 'compose.yaml'), 'utf8'));

  it('runs a Redis that evicts nothing and keeps what it has acknowledged', () => {
    const command = itemsAt(compose, 'services', 'redis', 'command').join(' ');
    expect(command).toContain('--appendonly yes');
    expect(command).toContain('--maxmemory-policy noeviction');
    expect(itemsAt(compose, 'services', 'redis', 'volumes')).toEqual(['redis-data:/data']);
    expect(at(compose, 'services', 'redis', 'ports')).toBeUndefined();
  });

  it('gives the server variables that it knows, and no secret', () => {
    const environment = membersAt(compose, 'services', 'coordinator', 'environment');
    const table = new Map(ENVIRONMENT_TABLE.map((variable) => [variable.name, variable]));
    expect(environment.map(([name]) => name).filter((name) => !table.has(name))).toEqual([]);
    const plain = environment.filter(
      ([name, value]) => table.get(name)?.isSecret === true && !String(value).startsWith('${'),
    );
    expect(plain).toEqual([]);
  });

  it('kills the server only after it has drained', () => {
    const service = at(compose, 'services', 'coordinator');
    const grace = Number(at(service, 'environment', 'SHUTDOWN_GRACE_MS'));
    expect(Number.parseInt(textAt(service, 'stop_grace_period'), 10) * 1_000).toBeGreaterThan(grace + 7_000);
  });

  it.each(['coordinator', 'redis'])('locks %s up as the manifests do', (name) => {
    const service = at(compose, 'services', name);
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
  });

  it('has the images of the manifests', () => {
    const dev = new Manifests(renderedText('dev'));
    const images = dev.pods.flatMap(({ spec }) => containersOf(spec).map((container) => textAt(container, 'image')));
    expect([
      textAt(compose, 'services', 'coordinator', 'image'),
      textAt(compose, 'services', 'redis', 'image'),
    ]).toEqual(images);
    expect(images[0]).toBe(`ai-api-coordinator:${packageVersion()}`);
  });
});
