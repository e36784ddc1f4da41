//! A run that somebody looks at: its nodes are asked while they run, and what messages carry is
//! told of those alone that are seen. So a look at a long run costs little more than the run.

use crate::plan::Options;
use crate::simulator::Simulation;
use crate::trace::{Effect, Field, Focus, NodeNow, Record, Survey, Surveyor, fields, words};
use crate::workload::Exercised;
use conclave_core::{NodeId, Oracle, Process, Reason};

/// The nodes of a run, being asked.
pub(crate) struct Asked<P: Process> {
    surveyor: Surveyor,
    /// What was sent, with its number, in order.
    sent: Vec<(u64, P::Message)>,
    /// The place of the step under way and the state of its node before it, if it is explained.
    step: Option<(usize, NodeId, Vec<Field>)>,
    reasons: Vec<Reason>,
}

impl<P: Process> Asked<P> {
    pub fn new(options: &Options) -> Option<Self> {
        let focus = options.focus.clone().filter(|_| options.trace)?;
        let surveyor = Surveyor::new(focus);
        Some(Self { surveyor, sent: Vec::new(), step: None, reasons: Vec::new() })
    }

    /// A message was sent under this number.
    pub fn sent(&mut self, number: u64, message: &P::Message) {
        self.sent.push((number, message.clone()));
    }

    /// Why the step under way does what it does.
    pub fn hears(&mut self, reasons: &[Reason]) {
        self.reasons.extend_from_slice(reasons);
    }

    /// What the nodes have said; and in the records, what the messages carry that are seen.
    pub fn finish(self, nodes: &[P], records: &mut [Record]) -> Survey {
        spell(records, self.surveyor.focus(), &self.sent);
        let judged = |record: &&Record| matches!(record, Record::Violation(_));
        let happened = records.len() - records.iter().filter(judged).count();
        self.surveyor.finish(happened, now(nodes))
    }
}

fn now<P: Process>(nodes: &[P]) -> Vec<NodeNow> {
    let now = |node: &P| NodeNow { fields: fields(node), waits: node.waits() };
    nodes.iter().map(now).collect()
}

impl<P: Process<Provides: Exercised, Uses: Oracle>> Simulation<'_, P> {
    /// Something is about to be written down: before it happens, the nodes are looked at.
    pub(crate) fn look(&mut self) {
        let (Some(asked), Some(recorder)) = (&mut self.asked, &self.recorder) else { return };
        let happened = recorder.written();
        if asked.surveyor.looks_at(happened) {
            asked.surveyor.sees(happened, now(&self.nodes));
        }
    }

    /// A step begins. If it is to be explained, somebody listens.
    pub(crate) fn listen(&mut self, node: NodeId) {
        self.look();
        let (Some(asked), Some(recorder)) = (&mut self.asked, &self.recorder) else { return };
        let place = recorder.written();
        let listened = asked.surveyor.focus().window.contains(&place);
        self.ctx.listen(listened || self.story.is_some());
        asked.step = listened.then(|| (place, node, fields(&self.nodes[node.index()])));
    }

    /// The step is over.
    pub(crate) fn heard(&mut self) {
        let Some(asked) = &mut self.asked else { return };
        let reasons = std::mem::take(&mut asked.reasons);
        if let Some((place, node, was)) = asked.step.take() {
            asked.surveyor.hears(place, reasons, &was, &fields(&self.nodes[node.index()]));
        }
    }
}

/// Tells what messages carry: those that are sent or land in the window, and those that are under
/// way at a moment.
fn spell<M: conclave_core::Data + conclave_core::Named>(
    records: &mut [Record],
    Focus { window, moments, .. }: &Focus,
    sent: &[(u64, M)],
) {
    let mut landed: Vec<Option<usize>> = Vec::new(); // Where each comes to its end, the last time.
    for (place, record) in records.iter().enumerate().skip(window.start.min(moments.start)) {
        if let Some(number) = record.landing().map(|number| number as usize) {
            landed.resize(landed.len().max(number + 1), None);
            landed[number] = Some(place);
        }
    }
    for (place, record) in records.iter_mut().enumerate().take(window.end.max(moments.end)) {
        let Record::Step(step) = record else { continue };
        for effect in &mut step.effects {
            let Effect::Send(sending) = effect else { continue };
            let landing = landed.get(sending.number as usize).copied().flatten();
            let seen = match landing {
                _ if window.contains(&place) => true,
                Some(landing) => {
                    let in_flight = place < moments.end && landing >= moments.start;
                    in_flight || window.contains(&landing)
                }
                None => sending.arrival.is_some() && place < moments.end,
            };
            let find = || sent.binary_search_by_key(&sending.number, |(number, _)| *number).ok();
            if let Some(known) = seen.then(find).flatten() {
                sending.details = words::details(&sent[known].1);
            }
        }
    }
}
