import type { TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { createKinds } from '../../src/derivation/kinds.ts'
import { EventBus } from '../../src/events/event-bus.ts'
import { DefinitionDirectory } from '../../src/sheet/definition/definition-directory.ts'
import { DefinitionFiles } from '../../src/sheet/definition/definition-files.ts'
import { Sheet } from '../../src/sheet/sheet.ts'
import { NetworkTransport } from '../../src/sheet/transports.ts'
import { Database } from '../../src/store/postgres/database/database.ts'
import { FrameFeed } from '../../src/store/postgres/frames/frame-feed.ts'
import { PostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { parseStoreUrl } from '../../src/store/postgres/database/store-url.ts'
import { PATIENT_LIMITS } from '../../src/store/suite/support/patient-limits.ts'
import { contractText } from './contract-with.ts'
import { startLocalApi, type LocalApi } from './local-api.ts'
import { onEnd } from './on-end.ts'
import { startPostgres } from './postgres.ts'
import { answerLookups, lookup } from './run-fixture.ts'
import { writeSheet } from './sheet-fixture.ts'

/** A sheet whose store is in PostgreSQL, as each of several servers opens it. */
export interface SharedSheet {
  readonly directory: string
  readonly url: string
  readonly api: LocalApi
  /** Opens it once more, as another server does; closed when the test ends. */
  open(): Promise<Sheet>
}

/** Makes a sheet of the text fields `a` and `b`, where `b` is fetched by `a` from a local API. */
export async function sharedLookupSheet(
  t: TestContext,
  records: readonly JsonObject[],
): Promise<SharedSheet> {
  const server = await startPostgres()
  const api = await startLocalApi(t)
  answerLookups(api)
  const directory = await writeSheet(t, {
    contract: contractText(['{name: a, logicalType: string}', '{name: b, logicalType: string}']),
    records,
    derivations: { 'b.yaml': JSON.stringify(lookup(api.url, 'b', 'a')) },
  })
  const url = server.freshUrl()
  const open = async (): Promise<Sheet> => {
    const sheet = await openShared(directory, url)
    onEnd(t, () => sheet.close())
    return sheet
  }
  return { directory, url, api, open }
}

/** Opens a sheet with the definition of a directory and the store at a URL. */
export async function openShared(directory: string, url: string): Promise<Sheet> {
  const transport = new NetworkTransport()
  const database = new Database(parseStoreUrl(url))
  const frames = new FrameFeed(database)
  const sheet = new Sheet({
    name: 'shared',
    dialect: 'postgres',
    defaultActor: null,
    lockTimeoutMs: 10_000,
    logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
    events: new EventBus(),
    warnings: () => [],
    confinement: 'refused',
    env: process.env,
    frames,
    files: new DefinitionFiles(
      new DefinitionDirectory(directory),
      createKinds({ transport, env: process.env, own: [] }),
    ),
    openStore: (definition) =>
      PostgresStore.open(url, {
        definition,
        directory,
        actor: 'system',
        lockTimeoutMs: 10_000,
        queryLimits: PATIENT_LIMITS,
        frames,
        onSourceDiffers: () => undefined,
      }),
    closeTransport: async () => {
      await frames.close()
      await database.close()
      await transport.close()
    },
  })
  await sheet.deriving()
  return sheet
}
