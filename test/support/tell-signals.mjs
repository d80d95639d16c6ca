/** Preloaded into a server under test: tells the parent as soon as the process listens to signals. */
process.on('newListener', (name) => {
  // It is told before the listener is there, and before those to other signals are.
  if (name === 'SIGTERM') process.nextTick(() => process.send({ listens: true }));
});
