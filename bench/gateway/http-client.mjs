/**
 * What the client's door costs: CPU per upstream call of undici.request, of an axios instance whose adapter is that same
 * pool, and of @nestjs/axios' HttpService on that instance. Blocks are interleaved, so ratios hold on a busy machine.
 * Runs on the product's own packages: `npm ci` at the root, then `node bench/gateway/http-client.mjs`.
 */
import { createRequire } from 'node:module';
import { messageOf, startOwn, stopAll } from './child.mjs';
import { faultOfJson, faultOfStream } from './answer.check.mjs';
import { median } from './figures.mjs';
import { bodiesOf, pieces, workloadNamed } from './workloads.mjs';

const product = createRequire(new URL('../../package.json', import.meta.url));
const { Agent } = product('undici');
const { Axios, AxiosHeaders, default: axios } = product('axios');
product('reflect-metadata');
const { HttpService } = product('@nestjs/axios');
const { firstValueFrom } = product('rxjs');

const CONNECTIONS = 16;
const BLOCKS = 24;
/** Requests per block, and blocks that only warm up. */
const BLOCK_SIZES = { 'json-1k': 400, 'json-20k': 200, 'stream-100': 48 };
const WARM_UP_BLOCKS = 4;

const pool = new Agent({ connections: CONNECTIONS, headersTimeout: 0, bodyTimeout: 0 });

/** As thin as an adapter on a pool can be: no redirects, no transforms, the body as a stream. */
async function adapter(config) {
  const { origin, pathname, search } = new URL(config.url, config.baseURL);
  const headers = {};
  for (const [name, value] of AxiosHeaders.from(config.headers)) headers[name] = String(value);
  const { method, data: body, signal } = config;
  const answer = await pool.request({
    origin,
    path: pathname + search,
    method: method.toUpperCase(),
    headers,
    body,
    signal,
  });
  return { data: answer.body, status: answer.statusCode, statusText: '', headers: answer.headers, config };
}

const axiosSettings = {
  adapter,
  maxRedirects: 0,
  responseType: 'stream',
  transformRequest: [],
  transformResponse: [],
  validateStatus: () => true,
};
const bareAxios = new Axios({ ...axiosSettings, headers: {} });
const createdAxios = axios.create(axiosSettings);
const httpService = new HttpService(createdAxios);

/** Each takes `{url, headers, body, signal}` and answers `{status, body}`. */
const CLIENTS = {
  'undici.request': async ({ url, headers, body, signal }) => {
    const { origin, pathname, search } = new URL(url);
    const answer = await pool.request({ origin, path: pathname + search, method: 'POST', headers, body, signal });
    return { status: answer.statusCode, body: answer.body };
  },
  'new Axios(), adapter': ({ body, ...request }) =>
    viaAxios(bareAxios.request({ method: 'POST', data: body, ...request })),
  'axios.create(), adapter (= HttpService.axiosRef)': ({ body, ...request }) =>
    viaAxios(createdAxios.request({ method: 'POST', data: body, ...request })),
  'HttpService.request(), adapter': ({ body, ...request }) =>
    viaAxios(firstValueFrom(httpService.request({ method: 'POST', data: body, ...request }))),
};

async function viaAxios(pending) {
  const { status, data } = await pending;
  return { status, body: data };
}

const HEADERS = {
  accept: 'application/json',
  authorization: 'Bearer bench-key',
  'content-type': 'application/json',
  'user-agent': 'bench',
  'x-request-id': 'req_0123456789',
};

async function block(client, url, workload) {
  const nextBody = bodiesOf(workload);
  const expected = pieces(workload.plan).join('');
  const faultOf = workload.plan.frames > 0 ? faultOfStream : faultOfJson;
  const requests = BLOCK_SIZES[workload.name];
  let left = requests;
  const loop = async () => {
    while (left > 0) {
      left -= 1;
      const { signal } = new AbortController();
      const { status, body } = await client({ url, headers: HEADERS, body: nextBody(), signal });
      const fault = faultOf(status, await textOf(body), expected);
      if (fault) throw new Error(fault);
    }
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: CONNECTIONS }, loop));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}

async function textOf(body) {
  const received = [];
  for await (const chunk of body) received.push(chunk);
  return Buffer.concat(received).toString();
}

async function compare(url, workload) {
  const names = Object.keys(CLIENTS);
  const taken = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < WARM_UP_BLOCKS + BLOCKS; round += 1) {
    for (let turn = 0; turn < names.length; turn += 1) {
      const name = names[(turn + round) % names.length];
      const micros = await block(CLIENTS[name], url, workload);
      if (round >= WARM_UP_BLOCKS) taken[name].push(micros);
    }
  }
  return taken;
}

function tableOf(taken) {
  const base = taken['undici.request'];
  const rows = Object.entries(taken).map(([name, blocks]) => {
    const ratio = median(blocks.map((micros, index) => micros / base[index]));
    const added = median(blocks.map((micros, index) => micros - base[index]));
    return `| ${name} | ${median(blocks).toFixed(0)} | ${ratio.toFixed(2)} | ${added.toFixed(0)} |`;
  });
  return ['| client | CPU µs/request | x undici.request | added µs |', '|---|--:|--:|--:|', ...rows].join('\n');
}

try {
  const { port } = await messageOf(startOwn('./upstream.mjs'), 10_000);
  for (const name of Object.keys(BLOCK_SIZES)) {
    const workload = workloadNamed(name);
    const taken = await compare(`http://127.0.0.1:${port}/v1/chat/completions`, workload);
    console.log(
      `\n### ${workload.title} (${BLOCKS} interleaved blocks of ${BLOCK_SIZES[name]}, ${CONNECTIONS} at a time)\n\n${tableOf(taken)}`,
    );
  }
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await pool.destroy();
  await stopAll();
}
