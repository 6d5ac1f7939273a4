import { startPostgres } from '../../../test/support/postgres.ts'
import { testVerification } from '../../../test/support/verify-tests.ts'
import { testStore } from '../suite/store-suite.ts'
import type { OpenStore } from '../suite/support/test-sheet.ts'
import { PostgresStore } from './postgres-store.ts'
import { PATIENT_LIMITS } from '../suite/support/patient-limits.ts'

const server = await startPostgres()

/** A schema for each directory. */
const urls = new Map<string, string>()

const open: OpenStore = (directory, { contract, targets, ...options }) => {
  const url = urls.get(directory) ?? server.freshUrl()
  urls.set(directory, url)
  return PostgresStore.open(url, {
    ...options,
    directory,
    definition: { contract, targets },
    queryLimits: PATIENT_LIMITS,
  })
}

const openStore = Object.assign(open, { keepsLog: false, randomPart: 0.4 })

testStore('PostgreSQL', openStore)
testVerification('PostgreSQL', openStore)
