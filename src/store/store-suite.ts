import { testCells } from './suite/cells-tests.ts'
import { testDefinitions } from './suite/contract-tests.ts'
import { testImport } from './suite/import-tests.ts'
import { testPages } from './suite/pages-tests.ts'
import { testAgainstModel } from './suite/random-tests.ts'
import { testRecords } from './suite/records-tests.ts'
import type { OpenStore } from './suite/test-sheet.ts'

/**
 * Registers what holds for every engine behind {@link SheetStore}. `openStore` opens the store of a sheet's directory
 * or makes it; each test has a directory of its own.
 */
export function testStore(name: string, openStore: OpenStore): void {
  testImport(name, openStore)
  testDefinitions(name, openStore)
  testPages(name, openStore)
  testRecords(name, openStore)
  testCells(name, openStore)
  testAgainstModel(name, openStore)
}
