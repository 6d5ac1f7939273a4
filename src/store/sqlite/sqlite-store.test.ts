import { testStore } from '../suite/store-suite.ts'
import { PATIENT_LIMITS } from '../suite/support/patient-limits.ts'
import { SqliteStore } from './sqlite-store.ts'

testStore('SQLite', (directory, { contract, targets, ...options }) =>
  SqliteStore.open(directory, {
    ...options,
    definition: { contract, targets },
    queryLimits: PATIENT_LIMITS,
  }),
)
