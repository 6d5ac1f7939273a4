import { testVerification } from '../../../test/support/verify-tests.ts'
import { testStore } from '../suite/store-suite.ts'
import { PATIENT_LIMITS } from '../suite/support/patient-limits.ts'
import type { OpenStore } from '../suite/support/test-sheet.ts'
import { SqliteStore } from './sqlite-store.ts'

const open: OpenStore = (directory, { contract, targets, ...options }) =>
  SqliteStore.open(directory, {
    ...options,
    definition: { contract, targets },
    queryLimits: PATIENT_LIMITS,
  })

testStore('SQLite', open)
testVerification('SQLite', open)
