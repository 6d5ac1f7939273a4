import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { createApp } from '../../src/http/app.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { parseStub } from '../../src/sheet/transports.ts'
import { CSRF } from './http-fixture.ts'
import { onEnd } from './on-end.ts'
import { RATES } from './sheet-fixture.ts'

/** The routes that D3 distinguishes, each with a request that works on a valid sheet. */
const ROUTES = {
  csrf: { url: '/api/csrf' },
  list: { url: '/api/records?limit=1' },
  get: { url: '/api/records/a' },
  provenance: { url: '/api/provenance?record_id=a&field=title' },
  contract: { url: '/api/contract' },
  status: { url: '/api/status' },
  upsert: { url: '/api/records', payload: { records: [{ id: 'a', title: 'Apple' }], actor: 'human:ann' } },
  plan: { url: '/api/materialize', payload: { actor: 'human:ann', dry_run: true } },
} as const

export type Route = keyof typeof ROUTES

/** The routes that an invalid derivation file stops, while others work (D3); `plan` represents the runs. */
export const DERIVING: readonly Route[] = ['contract', 'status', 'upsert', 'plan']

/** The routes that an invalid contract stops. */
export const ALL_BUT_CSRF: readonly Route[] = [...DERIVING, 'list', 'get', 'provenance']

/** A server over a sheet's directory. */
export class ServedDirectory {
  readonly app: FastifyInstance
  readonly logged: string[]

  private constructor(app: FastifyInstance, logged: string[]) {
    this.app = app
    this.logged = logged
  }

  /** Opens the sheet as `colophon serve` does; it is closed when the test ends. */
  static async open(t: TestContext, directory: string): Promise<ServedDirectory> {
    const logged: string[] = []
    const note = (_: object, message: string): void => void logged.push(message)
    const logger = { debug: () => undefined, info: () => undefined, warn: note, error: note }
    const sheet = await openSheet(directory, { transport: parseStub(RATES), logger })
    onEnd(t, () => sheet.close())
    const app = createApp(sheet, { logger })
    onEnd(t, () => app.close())
    return new ServedDirectory(app, logged)
  }

  /** Asserts that these routes respond with 500 and this error, and all others with 200. */
  async assertBroken(broken: readonly Route[], fault: RegExp): Promise<void> {
    for (const [name, { url, ...rest }] of Object.entries(ROUTES)) {
      const write = 'payload' in rest ? { method: 'POST' as const, headers: CSRF, ...rest } : {}
      const { statusCode, body } = await this.app.inject({ url, ...write })
      const isBroken = broken.includes(name as Route)
      assert.equal(statusCode, isBroken ? 500 : 200, `${name}: ${body}`)
      if (isBroken) assert.match(body, fault, name)
    }
  }

  assertSound(): Promise<void> {
    return this.assertBroken([], /./)
  }
}
