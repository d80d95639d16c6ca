import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Body, Controller, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiProperty } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { HealthModule } from '../../src/health/index.js';
import { serveDocs, STATUS_TABLE } from '../../src/http/index.js';
import { startHttpApp, type HttpApp } from '../support/http-app.js';

class Thing {
  @ApiProperty({ example: 'a' })
  @IsString()
  name!: string;
}

@Controller('v1/things')
class ThingsController {
  @Post()
  @ApiCreatedResponse({ type: Thing })
  make(@Body() thing: Thing): Thing {
    return thing;
  }
}

let server: HttpApp;
beforeAll(async () => {
  server = await startHttpApp({
    controllers: [ThingsController],
    imports: [HealthModule.forRoot({ phase: () => 'serving', store: () => ({ kind: 'memory' }), upstreams: () => [] })],
    prepare: (app) => {
      serveDocs(app, { version: '1.2.3' });
    },
  });
});
afterAll(() => server.close());

const get = (path: string): Promise<Response> => fetch(`${server.url}${path}`);

describe('/docs', () => {
  it('is a page whose every asset comes from here', async () => {
    const response = await get('/docs');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/html');
    const assets = [...(await response.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '');
    expect(assets.length).toBeGreaterThan(3);
    for (const asset of assets) {
      const url = new URL(asset, `${server.url}/docs`);
      expect(url.origin).toBe(server.url);
      const answer = await fetch(url);
      expect([asset, answer.status]).toEqual([asset, 200]);
      await answer.arrayBuffer();
    }
  });

  it('answers a missing asset in the error shape', async () => {
    const response = await get('/docs/none.js');
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: { code: 'not_found', message: 'no route for GET /docs/none.js' },
    });
  });
});

describe('/docs-json', () => {
  it('has every operation of /v1 answer the one error schema, by bearer', async () => {
    const document = (await (await get('/docs-json')).json()) as {
      info: { version: string };
      security: unknown;
      paths: Record<string, Record<string, { responses: Record<string, unknown>; security?: unknown }>>;
      components: {
        schemas: Record<string, unknown>;
        responses: Record<string, { description: string }>;
        securitySchemes: unknown;
      };
    };
    expect(document.info.version).toBe('1.2.3');
    expect(document.security).toEqual([{ bearer: [] }]);
    expect(document.components.securitySchemes).toMatchObject({ bearer: { type: 'http', scheme: 'bearer' } });
    expect(document.paths['/v1/things']?.['post']?.responses).toMatchObject({
      '201': { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
      default: { $ref: '#/components/responses/Error' },
    });
    expect(document.paths['/health']?.['get']?.security).toEqual([]);
    expect(Object.keys(document.components.schemas).sort()).toEqual(expect.arrayContaining(['Error', 'Thing']));
    for (const code of Object.keys(STATUS_TABLE))
      expect(document.components.responses['Error']?.description).toContain(code);
  });
});
