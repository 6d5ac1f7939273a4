import { testStore } from '../store-suite.ts'
import { DEFAULT_QUERY_LIMITS } from '../query-limits.ts'
import { SqliteStore } from './sqlite-store.ts'

testStore('SQLite', (directory, { contract, targets, ...options }) =>
  SqliteStore.open(directory, {
    ...options,
    definition: { contract, targets },
    queryLimits: DEFAULT_QUERY_LIMITS,
  }),
)
