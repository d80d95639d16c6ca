import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type HttpApp, startHttpApp } from '../support/http-app.js';

@Controller()
class WhoController {
  @Get('who')
  who(@Req() { ip, protocol, hostname }: FastifyRequest): object {
    return { ip, protocol, hostname };
  }
}

let server: HttpApp;
afterEach(() => server.close());

const FORWARDED = {
  'x-forwarded-for': '203.0.113.9, 198.51.100.7',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'api.example',
};
const ITSELF = { ip: '127.0.0.1', protocol: 'http', hostname: '127.0.0.1' };

describe('what a proxy says of the client', () => {
  it.each([
    ['nobody', false, ITSELF],
    ['addresses that it does not come from', ['10.0.0.0/8'], ITSELF],
    ['one hop', 1, { ip: '198.51.100.7', protocol: 'https', hostname: 'api.example' }],
    ['its address', ['127.0.0.1/32'], { ip: '198.51.100.7', protocol: 'https', hostname: 'api.example' }],
    ['everybody', true, { ip: '203.0.113.9', protocol: 'https', hostname: 'api.example' }],
  ])('is believed by TRUST_PROXY alone: %s', async (_name, trustProxy, expected) => {
    server = await startHttpApp({ controllers: [WhoController], trustProxy });
    expect(await (await fetch(`${server.url}/who`, { headers: FORWARDED })).json()).toEqual(expected);
  });
});
