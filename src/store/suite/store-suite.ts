import { suite } from 'node:test'
import { testCells } from './cells-tests.ts'
import { testConditions } from './conditions-tests.ts'
import { testDefinitions } from './contract-tests.ts'
import { testExplanations } from './explain-tests.ts'
import { testFailureGroups } from './failures-tests.ts'
import { testFieldChanges } from './field-changes-tests.ts'
import { testFieldHistory } from './field-history-random-tests.ts'
import { testHistoryAgainstCopies } from './history-random-tests.ts'
import { testHistory } from './history-tests.ts'
import { testImport } from './import-tests.ts'
import { testImportedRecords } from './imported-records-tests.ts'
import { testPages } from './pages-tests.ts'
import { testProposals } from './proposals-tests.ts'
import { testAgainstModel } from './random-tests.ts'
import { testQueries } from './queries-tests.ts'
import { testRecords } from './records-tests.ts'
import { testResponses } from './responses-tests.ts'
import { testRestore } from './restore-tests.ts'
import { testRevert } from './revert-tests.ts'
import { testRunCommits } from './run-commits-tests.ts'
import { testRuns } from './runs-tests.ts'
import { testSnapshots } from './snapshot-tests.ts'
import { testSortedPages } from './sorted-pages-tests.ts'
import { testPruneRuns } from './prune-runs-tests.ts'
import { testWriters } from './writers-tests.ts'
import { testStoredRuns } from './stored-runs-tests.ts'
import { testSummaries } from './summary-tests.ts'
import type { OpenStore } from './support/test-sheet.ts'
import { testUpsert } from './upsert-tests.ts'
import { testVersions } from './versions-tests.ts'

/**
 * Registers the tests for every engine behind {@link SheetStore}. `openStore` opens the store of a sheet's directory or
 * creates it; each test has its own directory.
 */
export function testStore(name: string, openStore: OpenStore): void {
  // Much of the time is the start of the stores' threads: two at a time.
  suite(name, { concurrency: 2 }, () => {
    testAgainstModel(openStore)
    testImport(openStore)
    testImportedRecords(openStore)
    testDefinitions(openStore)
    testFieldChanges(openStore)
    testFieldHistory(openStore)
    testPages(openStore)
    testSortedPages(openStore)
    testSummaries(openStore)
    testConditions(openStore)
    testRecords(openStore)
    testUpsert(openStore)
    testVersions(openStore)
    testCells(openStore)
    testQueries(openStore)
    testRuns(openStore)
    testStoredRuns(openStore)
    testPruneRuns(openStore)
    testWriters(openStore)
    testRunCommits(openStore)
    testExplanations(openStore)
    testFailureGroups(openStore)
    testHistory(openStore)
    testHistoryAgainstCopies(openStore)
    testRevert(openStore)
    testRestore(openStore)
    testProposals(openStore)
    testSnapshots(openStore)
    testResponses(openStore)
  })
}
