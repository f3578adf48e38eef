"""Who is told when something happens to a cluster."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from aws_cdk import aws_events as events, aws_sns as sns
from constructs import Construct

from hyperpod_constructs.cdk._arguments import check_emails, check_topic, checked
from hyperpod_constructs.cdk.cluster import Cluster
from hyperpod_constructs.cdk.network import LOCKED
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.tokens import is_token

STATE_CHANGE = "SageMaker HyperPod Cluster State Change"
NODE_HEALTH = "SageMaker HyperPod Cluster Node Health Event"
"""Detail types of EventBridge events. Source: SageMaker developer guide, EventBridge page (facts 8.4)."""

_PRINCIPAL = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.amazonaws\.com(\.cn)?")
_NAMES_ITS_ACCOUNT = frozenset({"budgets.amazonaws.com"})
"""Services documented to send `aws:SourceAccount` when they publish; for others the condition would silence them.

Source: cost-management user guide, budgets-sns-policy (October 2026).
"""


class AlertTopic(Construct):
    """A topic for people: TLS only, with the services that may publish to it.

    Args:
        scope: Parent construct.
        id: Name within the parent.
        emails: Addresses; each gets one mail to confirm. They stand in the template, for everybody to read who may read
            that.
        publishers: Service principals that may publish for this account, for example `events.amazonaws.com`.

    Raises:
        InvalidValue: if an address is none, or given twice, or a publisher is no service principal.

    Attributes:
        topic_arn: ARN of the topic.
        policy: Its policy, which publishers must wait for.
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, emails: Sequence[str], publishers: Sequence[str]) -> None:
        """Makes the topic, its policy and its subscriptions."""
        check_emails("emails", emails)
        for service in publishers:
            if not is_token(service) and not _PRINCIPAL.fullmatch(service):
                raise InvalidValue(
                    f"AlertTopic: publishers holds {service!r}, which is no service principal",
                    "use one such as budgets.amazonaws.com or events.amazonaws.com",
                )
        super().__init__(scope, id)
        topic = sns.CfnTopic(
            self,
            "Resource",
            subscription=[
                sns.CfnTopic.SubscriptionProperty(endpoint=email, protocol="email") for email in sorted(emails)
            ]
            or None,
        )
        topic.apply_cross_stack_reference_strength(LOCKED)
        self.topic_arn = topic.ref
        self.policy = sns.CfnTopicPolicy(
            self,
            "Policy",
            topics=[self.topic_arn],
            policy_document={
                "Version": "2012-10-17",
                "Statement": [
                    *(self._publish(service) for service in publishers),
                    {
                        "Sid": "TlsOnly",
                        "Effect": "Deny",
                        "Principal": "*",
                        "Action": "sns:Publish",
                        "Resource": self.topic_arn,
                        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                    },
                ],
            },
        )

    @property
    def topic(self) -> sns.ITopic:
        """The topic for other constructs."""
        found = self.node.try_find_child("Topic")
        return cast("sns.ITopic", found or sns.Topic.from_topic_arn(self, "Topic", self.topic_arn))

    def _publish(self, service: str) -> dict[str, object]:
        statement: dict[str, object] = {
            "Sid": f"Publish{service.split('.', maxsplit=1)[0].capitalize()}",
            "Effect": "Allow",
            "Principal": {"Service": service},
            "Action": "sns:Publish",
            "Resource": self.topic_arn,
        }
        if service in _NAMES_ITS_ACCOUNT:
            # Written as the intrinsic that `cdk.Aws.ACCOUNT_ID` stands for: that is a message to Node less.
            statement["Condition"] = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
        return statement


class ClusterNotices(Construct):
    """Tells a topic when a cluster changes state or a node's health does.

    Args:
        scope: Parent construct.
        id: Name within the parent.
        cluster: The cluster.
        topic_arn: Topic that lets `events.amazonaws.com` publish, such as
            `hp.AlertTopic(..., publishers=["events.amazonaws.com"]).topic_arn`.
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, cluster: Cluster, topic_arn: str) -> None:
        """Makes the event rule."""
        check_topic("topic_arn", topic_arn)
        super().__init__(scope, id)
        events.CfnRule(
            self,
            "Resource",
            description=f"State of cluster {cluster.cluster_name} and health of its nodes",
            event_pattern={
                "source": ["aws.sagemaker"],
                "detail-type": [STATE_CHANGE, NODE_HEALTH],
                "resources": [cluster.cluster_arn],
            },
            targets=[events.CfnRule.TargetProperty(arn=topic_arn, id="Alerts")],
        )
