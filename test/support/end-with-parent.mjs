/** Preloaded into every server under test: a test run that dies takes its servers with it. */
process.once('disconnect', () => process.exit(1));
