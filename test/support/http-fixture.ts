import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import type { Frame } from '../../src/events/frame.ts'
import { createApp, type AppOptions } from '../../src/http/app.ts'
import type { SheetOptions } from '../../src/sheet/open-sheet.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { checkAnswers } from './check-answers.ts'
import { hearFrames, type TakeFrames } from './hear-frames.ts'
import { onEnd } from './on-end.ts'
import { openTestSheet, type SheetFiles } from './sheet-fixture.ts'

/** An app over its own sheet. */
export interface TestApp {
  readonly app: FastifyInstance
  readonly sheet: Sheet
  /** Messages that were logged at error level. */
  readonly logged: { details: object; message: string }[]
  /** Returns the frames published since its last call. */
  readonly takeFrames: TakeFrames
}

export interface TestAppOptions {
  readonly files?: Partial<SheetFiles>
  readonly sheet?: Partial<SheetOptions>
  readonly app?: Partial<AppOptions>
}

/** Opens a sheet and creates an app over it; both are closed when the test ends. */
export async function startApp(t: TestContext, options: TestAppOptions = {}): Promise<TestApp> {
  return startAppOver(t, await openTestSheet(t, options.files, options.sheet), options)
}

/** Creates an app over a sheet; it is closed when the test ends. */
export async function startAppOver(
  t: TestContext,
  sheet: Sheet,
  options: Pick<TestAppOptions, 'app'> = {},
): Promise<TestApp> {
  const logged: TestApp['logged'] = []
  const logger = {
    debug: () => undefined,
    error: (details: object, message: string) => void logged.push({ details, message }),
  }
  const app = createApp(sheet, { logger, ...options.app })
  checkAnswers(t, app, sheet)
  onEnd(t, () => app.close())
  return { app, sheet, logged, takeFrames: await hearFrames(sheet) }
}

/** Starts listening on a free port of 127.0.0.1. */
export async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}

/** Cookie and header of a write that passes the CSRF check. */
export const CSRF = { cookie: 'svc_csrf=token', 'x-csrf-token': 'token' } as const

export interface Scenario {
  readonly name: string
  readonly request: InjectOptions
  readonly status: number
  /** The whole body, parsed; or, for an error, its type and a pattern of its message. */
  readonly body?: unknown
  readonly error?: readonly [type: string, message: RegExp]
  /** The frames that the request publishes, without `ts`; none by default. */
  readonly frames?: readonly object[]
  readonly options?: TestAppOptions
  /** Runs before the request, to prepare the sheet. */
  readonly given?: (app: TestApp) => Promise<void>
  /** Runs after the request, to check the sheet. */
  readonly then?: (app: TestApp, response: LightMyRequestResponse) => Promise<void>
}

/**
 * Runs each scenario as a test. Those that should change nothing share a sheet, which is faster and detects one that does change something;
 * the others have their own sheet.
 */
export function runScenarios(title: string, scenarios: readonly Scenario[]): void {
  void test(title, async (t) => {
    const shared = await startApp(t)
    for (const scenario of scenarios) {
      await t.test(scenario.name, async (own) => {
        await runScenario(scenario, changesNothing(scenario) ? shared : await startApp(own, scenario.options))
      })
    }
  })
}

function changesNothing({ options, given, request, status }: Scenario): boolean {
  const reads = request.method === undefined || request.url === '/api/query'
  return options === undefined && given === undefined && (reads || status !== 200)
}

async function runScenario(scenario: Scenario, running: TestApp): Promise<void> {
  await scenario.given?.(running)
  await running.takeFrames()
  const response = await running.app.inject(scenario.request)
  assert.equal(response.statusCode, scenario.status, response.body)
  if (scenario.body !== undefined) assert.deepEqual(response.json(), scenario.body)
  if (scenario.error !== undefined) assertEnvelope(response, ...scenario.error)
  assert.deepEqual((await running.takeFrames()).map(withoutTime), scenario.frames ?? [])
  await scenario.then?.(running, response)
}

/** Asserts that a response is an error envelope: its members and no others (D36). */
export function assertEnvelope(response: LightMyRequestResponse, type: string, message: RegExp): void {
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  const body = response.json<{ error: { type: string; message: string } }>()
  assert.deepEqual(Object.keys(body), ['error'])
  assert.deepEqual(Object.keys(body.error), ['type', 'message'])
  assert.equal(body.error.type, type)
  assert.match(body.error.message, message)
}

function withoutTime({ ts, ...rest }: Frame): object {
  assert.match(ts, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  return rest
}
