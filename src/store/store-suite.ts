import { suite } from 'node:test'
import { testCells } from './suite/cells-tests.ts'
import { testConditions } from './suite/conditions-tests.ts'
import { testDefinitions } from './suite/contract-tests.ts'
import { testExplanations } from './suite/explain-tests.ts'
import { testHistoryAgainstCopies } from './suite/history-random-tests.ts'
import { testHistory } from './suite/history-tests.ts'
import { testImport } from './suite/import-tests.ts'
import { testPages } from './suite/pages-tests.ts'
import { testProposals } from './suite/proposals-tests.ts'
import { testAgainstModel } from './suite/random-tests.ts'
import { testRecords } from './suite/records-tests.ts'
import { testResponses } from './suite/responses-tests.ts'
import { testRestore } from './suite/restore-tests.ts'
import { testRevert } from './suite/revert-tests.ts'
import { testRunCommits } from './suite/run-commits-tests.ts'
import { testRuns } from './suite/runs-tests.ts'
import { testSnapshots } from './suite/snapshot-tests.ts'
import { testSortedPages } from './suite/sorted-pages-tests.ts'
import { testPruneRuns } from './suite/prune-runs-tests.ts'
import { testStoredRuns } from './suite/stored-runs-tests.ts'
import { testSummaries } from './suite/summary-tests.ts'
import type { OpenStore } from './suite/test-sheet.ts'
import { testUpsert } from './suite/upsert-tests.ts'
import { testVersions } from './suite/versions-tests.ts'

/**
 * Registers what holds for every engine behind {@link SheetStore}. `openStore` opens the store of a sheet's directory
 * or makes it; each test has a directory of its own.
 */
export function testStore(name: string, openStore: OpenStore): void {
  // Much of the time goes into starting the stores' threads: two at a time.
  suite(name, { concurrency: 2 }, () => {
    testAgainstModel(openStore)
    testImport(openStore)
    testDefinitions(openStore)
    testPages(openStore)
    testSortedPages(openStore)
    testSummaries(openStore)
    testConditions(openStore)
    testRecords(openStore)
    testUpsert(openStore)
    testVersions(openStore)
    testCells(openStore)
    testRuns(openStore)
    testStoredRuns(openStore)
    testPruneRuns(openStore)
    testRunCommits(openStore)
    testExplanations(openStore)
    testHistory(openStore)
    testHistoryAgainstCopies(openStore)
    testRevert(openStore)
    testRestore(openStore)
    testProposals(openStore)
    testSnapshots(openStore)
    testResponses(openStore)
  })
}
